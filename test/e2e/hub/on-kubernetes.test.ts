import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { connectionFromKubeconfig, loadKubeconfig, readBody } from '@asterism/client';
import {
  CLUSTERS,
  HUB_SERVICE,
  memberProxyPath,
  RESOURCE_BINDINGS,
  SEARCH_PATH,
  SYSTEM_NAMESPACE,
} from '@asterism/fleet/api';
import { API_SERVICES, DEPLOYMENTS, isConditionTrue, NAMESPACES } from '@asterism/machinery';
import { CONTROL_PLANE_BINARIES } from '../../cluster/control-plane.ts';
import { HUB_CONTROLLERS, MEMBER_CONTROLLERS } from '../../cluster/control-plane-controllers.ts';
import type { Daemon } from '../../cluster/daemon.ts';
import { writeKubeconfig } from '../../cluster/kubeconfig-file.ts';
import { Kubectl, rowsOf } from '../../cluster/kubectl.ts';
import { requiredBinary, unlessThere } from '../../cluster/real-kubernetes.ts';
import { until } from '../../cluster/until.ts';
import { eventually } from '../../demo/aster-up.ts';
import { HostedFleet, memberVersion, reachable } from './hosted-fleet.ts';

const skip = unlessThere(...CONTROL_PLANE_BINARIES, 'kubectl-1.36');

describe('two hub processes on a kube-apiserver that is a control plane of its own', { skip }, () => {
  let fleet: HostedFleet;
  let first: Daemon;
  let second: Daemon;

  before(async () => {
    fleet = await HostedFleet.start({ templates: 'host', controllers: HUB_CONTROLLERS });
    first = await fleet.startHub('first');
    await first.printed(/^leading$/m, AbortSignal.timeout(30_000));
    second = await fleet.startHub('second');
  });

  after(async () => {
    await fleet?.[Symbol.asyncDispose]();
  });

  test('kinds are there, and the aggregated routes available', async () => {
    for (const name of ['v1alpha1.proxy.asterism.dev', 'v1alpha1.search.asterism.dev']) {
      await until(fleet.host.client, API_SERVICES, { name }, ({ status }) =>
        isConditionTrue(status?.conditions, 'Available'),
      );
    }
    assert.equal(await fleet.kubectl.run(['get', 'clusters', '-o', 'name']), '');
    // Its handlers learn of it a moment after its status says so.
    await eventually(async () => {
      const resources = await fleet.kubectl.run(['api-resources']);
      assert.match(resources, /^clusters +cl +asterism\.dev\/v1alpha1 +false +Cluster$/m);
      assert.match(resources, /search\.asterism\.dev\/v1alpha1/);
    });
  });

  test('a cluster joins through the kube-apiserver, and is seen, searched and reached through it', async () => {
    const member = await fleet.join('edge-1');
    await until(fleet.host.client, CLUSTERS, { name: 'edge-1' }, ({ status }) =>
      isConditionTrue(status?.conditions, 'Ready'),
    );
    const [row] = rowsOf(await fleet.kubectl.run(['get', 'clusters']));
    assert.deepEqual([row?.['NAME'], row?.['READY'], row?.['MODE']], ['edge-1', 'True', 'Pull']);
    await eventually(async () => {
      assert.equal(await memberVersion(fleet.host.client, 'edge-1'), (await member.client.version()).gitVersion);
    });
    await member.client.resource(NAMESPACES).create({ metadata: { name: 'found-me' } });
    await eventually(async () => {
      const found = await fleet.kubectl.run(['get', '--raw', `${SEARCH_PATH}/api/v1/namespaces`]);
      assert.match(found, /found-me/);
    });
  });

  test('nobody else is let in: the kube-apiserver says who callers are and what they may do', async () => {
    const stranger = fleet.client(await fleet.host.connectionAs({ commonName: 'stranger' }));
    const response = await stranger.request({ method: 'GET', path: `${memberProxyPath('edge-1')}/version` });
    const body = (await readBody(response.body, 'stranger')).toString();
    assert.equal(response.status, 403, body);
    assert.match(body, /stranger/);
  });

  test('a call that comes to the one that stands by goes through the one that holds the tunnel', async () => {
    const standby = await fleet.callerOf(second);
    await eventually(async () => {
      assert.equal(await memberVersion(standby, 'edge-1'), await memberVersion(fleet.host.client, 'edge-1'));
    });
    const stranger = await fleet.callerOf(second, await fleet.host.connectionAs({ commonName: 'stranger' }));
    await assert.rejects(memberVersion(stranger, 'edge-1'), /403/);
  });

  test('the first is killed: the second leads within 20 s, and the member is reached again', async () => {
    const before = await fleet.leader();
    assert.doesNotMatch(second.stdout, /leading/);
    await first.kill();
    const killed = performance.now();
    await second.printed(/^leading$/m, AbortSignal.timeout(25_000));
    const led = performance.now() - killed;
    assert.ok(led < 20_000, `it led after ${Math.round(led)} ms`);
    assert.notEqual(await fleet.leader(), before);
    await reachable(fleet.host.client, 'edge-1');
  });

  test('the first is back, the second is told to stop: the first leads at once, and what is registered stays', async () => {
    await first.start();
    await first.printed(/^serving https:/m, AbortSignal.timeout(30_000));
    await second.stop();
    const stopped = performance.now();
    await first.printed(/^leading$/m, AbortSignal.timeout(25_000));
    assert.ok(performance.now() - stopped < 5_000, 'it waited for the Lease to run out');
    await reachable(fleet.host.client, 'edge-1');
  });

  test('somebody removes what is registered: it is put right', async () => {
    await fleet.kubectl.run(['delete', 'apiservice', 'v1alpha1.proxy.asterism.dev']);
    await fleet.kubectl.run(['delete', '-n', SYSTEM_NAMESPACE, 'service', HUB_SERVICE]);
    await reachable(fleet.host.client, 'edge-1');
  });

  test('a hub with templates of its own is refused where things are placed from the host', async () => {
    const placed = {
      apiVersion: 'asterism.dev/v1alpha1',
      kind: 'PropagationPolicy',
      metadata: { name: 'settings', namespace: 'default' },
      spec: {
        resourceSelectors: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'settings' }],
        placement: { clusterAffinity: { clusterNames: ['edge-1'] } },
      },
    };
    await fleet.kubectl.run(['create', 'configmap', 'settings', '-n', 'default']);
    await fleet.kubectl.run(['apply', '-f', '-'], { stdin: JSON.stringify(placed) });
    await until(fleet.host.client, RESOURCE_BINDINGS, { namespace: 'default', name: 'settings-configmap' }, () => true);
    await assert.rejects(
      fleet.startHub('third', '--templates', 'embedded'),
      /templates of this fleet live in the host: things are placed from there/,
    );
  });
});

describe('templates beside a cluster that also runs workloads', { skip }, () => {
  let fleet: HostedFleet;
  let hub: Daemon;
  let templates: Kubectl;

  before(async () => {
    fleet = await HostedFleet.start({ templates: 'embedded', controllers: MEMBER_CONTROLLERS });
    hub = await fleet.startHub('hub', '--templates', 'embedded');
    await hub.printed(/^leading$/m, AbortSignal.timeout(30_000));
    // A person's own credentials, at the templates' address.
    const { server, caData } = await connectionFromKubeconfig(
      await loadKubeconfig(join(fleet.run.path, 'hub', 'data', 'templates.kubeconfig')),
    );
    const file = join(fleet.host.folder, 'person.kubeconfig');
    await writeKubeconfig(file, { ...fleet.host.connection, server, caData });
    templates = new Kubectl(requiredBinary('kubectl-1.36'), file, await fleet.run.folder('kubectl-templates'));
  });

  after(async () => {
    await fleet?.[Symbol.asyncDispose]();
  });

  test('one apply at their address places an application; nothing of it runs in the host', async () => {
    const member = await fleet.join('edge-1');
    const labels = { app: 'web' };
    const application = [
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } },
      {
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        metadata: { name: 'web', namespace: 'shop' },
        spec: {
          replicas: 2,
          selector: { matchLabels: labels },
          template: {
            metadata: { labels },
            spec: { containers: [{ name: 'web', image: 'registry.example/web:1' }] },
          },
        },
      },
      {
        apiVersion: 'asterism.dev/v1alpha1',
        kind: 'PropagationPolicy',
        metadata: { name: 'web', namespace: 'shop' },
        spec: {
          resourceSelectors: [{ apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' }],
          placement: { clusterAffinity: { clusterNames: ['edge-1'] } },
        },
      },
    ];
    const documents = application.map((object) => JSON.stringify(object)).join('\n---\n');
    await templates.run(['apply', '-f', '-'], { stdin: documents });
    const web = { namespace: 'shop', name: 'web' };
    await until(member.client, DEPLOYMENTS, web, ({ spec }) => spec?.replicas === 2);
    assert.match(
      await templates.run(['get', 'pp,deployments', '-n', 'shop', '-o', 'name']),
      /propagationpolicy.*\n.*web/,
    );
    assert.equal(await fleet.kubectl.run(['get', 'deployments,pods', '-n', 'shop', '-o', 'name']), '');
    assert.match(await fleet.kubectl.run(['get', 'rb', '-n', 'shop', '-o', 'name']), /web-deployment/);
  });

  test('a field that a policy does not have is refused there, though this host would drop it in silence', async () => {
    const policy = {
      apiVersion: 'asterism.dev/v1alpha1',
      kind: 'PropagationPolicy',
      metadata: { name: 'typo', namespace: 'shop' },
      spec: {
        resourceSelectors: [{ apiVersion: 'apps/v1', kind: 'Deployment' }],
        placment: { clusterAffinity: { clusterNames: ['edge-1'] } },
      },
    };
    const { code, stderr } = await templates.try(['apply', '-f', '-'], { stdin: JSON.stringify(policy) });
    assert.equal(code, 1);
    assert.match(stderr, /unknown field "spec\.placment"/);
  });

  test('the same people, with the same rights, at either address', async () => {
    const mayNot = ['get', 'deployments', '-n', 'shop', '--as', 'somebody'];
    assert.match((await templates.try(mayNot)).stderr, /Forbidden.*"somebody"/);
    const rights = ['create', 'rolebinding', 'reader', '-n', 'shop', '--clusterrole=view', '--user=somebody'];
    await fleet.kubectl.run(rights);
    await eventually(async () => assert.match(await templates.run([...mayNot, '-o', 'name']), /deployment.apps\/web/));
  });

  test('killed and started again it goes on at once where it was; nothing is taken away', async () => {
    const before = await templates.run(['get', 'deployment', 'web', '-n', 'shop', '-o', 'jsonpath={.metadata.uid}']);
    const binding = ['get', 'rb', '-n', 'shop', '-o', 'jsonpath={.items[*].metadata.uid}'];
    const bound = await fleet.kubectl.run(binding);
    const address = /^serving https:\/\/(.*)$/m.exec(hub.stdout)?.[1] ?? '';
    await hub.kill();
    hub = await fleet.startHub('hub', '--templates', 'embedded', '--listen', address);
    // It holds the lock of the one that was killed, so it need not wait for that one's Lease.
    await hub.printed(/^leading$/m, AbortSignal.timeout(8_000));
    const after = await templates.run(['get', 'deployment', 'web', '-n', 'shop', '-o', 'jsonpath={.metadata.uid}']);
    assert.equal(after, before);
    assert.equal(await fleet.kubectl.run(binding), bound);
  });

  test('a hub with another store, or with none, is refused', async () => {
    const another = fleet.startHub('another', '--templates', 'embedded');
    await assert.rejects(another, /templates of this fleet live in another embedded store/);
    await assert.rejects(fleet.startHub('none'), /templates of this fleet live in the embedded store/);
  });
});
