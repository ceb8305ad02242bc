import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { startTestServer, type TestServer } from '@asterism/apiserver/testing';
import { CONFIG_MAPS, ENDPOINTS, NAMESPACES, PODS, SERVICE_CIDRS } from '@asterism/machinery';
import { addressesOf, findNetworks } from './find-networks.ts';

describe('the networks of a cluster', () => {
  let member: TestServer;
  const signal = new AbortController().signal;
  beforeEach(async () => {
    member = await startTestServer();
  });
  afterEach(() => member.stop());

  /** As a member says that has no ServiceCIDRs. */
  async function find(older = true) {
    const resources = await member.client.discovery.resources();
    return findNetworks(
      member.client,
      older ? resources.filter(({ kind }) => kind !== 'ServiceCIDR') : resources,
      signal,
    );
  }

  async function controlPlane(component: string, command: string[], args: string[] = []): Promise<void> {
    await member.client.resource(PODS).create({
      metadata: { name: component, namespace: 'kube-system', labels: { component } },
      spec: { containers: [{ name: 'c', image: 'i', command, args }] },
    });
  }

  async function kubeadm(text: string): Promise<void> {
    const metadata = { name: 'kubeadm-config', namespace: 'kube-system' };
    await member.client.resource(CONFIG_MAPS).create({ metadata, data: { ClusterConfiguration: text } });
  }

  const KUBEADM = [
    'networking:',
    '  dnsDomain: cluster.local',
    '  podSubnet: 10.244.0.0/16,fd00:1::/56',
    '  serviceSubnet: 10.97.0.0/16',
    'scheduler: {}',
  ].join('\n');

  test('nothing tells them: nothing is said', async () => {
    const { podCIDRs, serviceCIDRs } = await find();
    assert.deepEqual([podCIDRs, serviceCIDRs], [[], []]);
  });

  test('from the flags of its control plane’s pods, wherever those stand', async () => {
    await controlPlane('kube-apiserver', ['kube-apiserver', '--service-cluster-ip-range=10.96.0.0/12']);
    await controlPlane(
      'kube-controller-manager',
      ['kube-controller-manager'],
      ['--cluster-cidr=10.0.0.0/16,fd00::/48'],
    );
    await kubeadm(KUBEADM);
    const { podCIDRs, serviceCIDRs } = await find();
    assert.deepEqual([podCIDRs, serviceCIDRs], [['10.0.0.0/16', 'fd00::/48'], ['10.96.0.0/12']]);
  });

  test('else from what kubeadm kept', async () => {
    await kubeadm(KUBEADM);
    const { podCIDRs, serviceCIDRs } = await find();
    assert.deepEqual([podCIDRs, serviceCIDRs], [['10.244.0.0/16', 'fd00:1::/56'], ['10.97.0.0/16']]);
  });

  test('ServiceCIDRs go before all else, where they are served', async () => {
    await kubeadm(KUBEADM);
    await member.client
      .resource(SERVICE_CIDRS)
      .create({ metadata: { name: 'more' }, spec: { cidrs: ['10.200.0.0/24'] } });
    assert.ok((await find(false)).serviceCIDRs.includes('10.200.0.0/24'));
  });

  test('its addresses are those of its own Endpoints', async () => {
    const endpoints = await member.client.resource(ENDPOINTS).get({ namespace: 'default', name: 'kubernetes' });
    const { addresses } = await find();
    assert.equal(addresses.length, 1);
    assert.deepEqual(addresses, addressesOf(endpoints));
    const subsets = [{ addresses: [{ ip: '192.0.2.7' }, { ip: '2001:db8::7' }], ports: [{ port: 6443 }] }];
    assert.deepEqual(addressesOf({ subsets }), ['192.0.2.7:6443', '[2001:db8::7]:6443']);
    assert.deepEqual(addressesOf(undefined), []);
  });

  test('what may not be read is not found, and is no failure', async () => {
    await kubeadm(KUBEADM);
    const nobody = member.clientAs({ username: 'nobody', groups: ['system:authenticated'] });
    assert.deepEqual(await findNetworks(nobody, [], signal), { addresses: [], podCIDRs: [], serviceCIDRs: [] });
    assert.ok(await member.client.resource(NAMESPACES).get({ name: 'kube-system' }));
  });
});
