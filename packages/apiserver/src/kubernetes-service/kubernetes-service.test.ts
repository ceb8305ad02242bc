import assert from 'node:assert/strict';
import type { networkInterfaces } from 'node:os';
import { describe, test } from 'node:test';
import {
  ENDPOINT_SLICES,
  ENDPOINTS,
  IP_ADDRESSES,
  type KubeObject,
  type ResourceType,
  SERVICES,
} from '@asterism/machinery';
import { createRegistry } from '../compose/create-registry.ts';
import { TEST_USER } from '../compose/testing/test-registry.ts';
import { requireResource } from '../registry/require-resource.ts';
import { createMemoryStorage } from '../storage/memory-storage.ts';
import type { Storage } from '../storage/storage.ts';
import { startTestServer, type TestServer } from '../testing/index.ts';
import { advertisedAddress } from './advertised-address.ts';
import { ensureServiceAddresses } from './ensure-service-addresses.ts';

const REF = { namespace: 'default', name: 'kubernetes' };
const HERE = { advertiseAddress: '192.0.2.7' };

/** The object once `is` holds of it, from its first state on. */
async function once<T extends KubeObject>(server: TestServer, type: ResourceType<T>, is: (object: T) => boolean) {
  const resource = server.client.resource(type);
  const fieldSelector = 'metadata.name=kubernetes';
  const stop = new AbortController();
  const signal = AbortSignal.any([stop.signal, AbortSignal.timeout(30_000)]);
  try {
    for await (const event of resource.watch({ namespace: 'default', fieldSelector, signal })) {
      if ((event.type === 'ADDED' || event.type === 'MODIFIED') && is(event.object)) return event.object;
    }
  } finally {
    stop.abort();
  }
  return assert.fail(`${type.resource} never came to be so`);
}

function portOf(url: string): number {
  return Number(new URL(url).port);
}

describe('the Service default/kubernetes', () => {
  test('has the first address, and leads to where the server listens', async () => {
    await using server = await startTestServer({ ...HERE, serviceAddressRange: '10.7.0.0/24' });
    const { metadata, spec } = await server.client.resource(SERVICES).get(REF);
    assert.deepEqual(metadata?.labels, { component: 'apiserver', provider: 'kubernetes' });
    assert.equal(spec?.clusterIP, '10.7.0.1');
    assert.deepEqual(spec?.ports, [{ name: 'https', protocol: 'TCP', port: 443, targetPort: 6443 }]);
    const port = portOf(server.url);
    const { endpoints, ports, addressType } = await once(server, ENDPOINT_SLICES, () => true);
    assert.deepEqual([endpoints?.[0]?.addresses, ports?.[0]?.port, addressType], [['192.0.2.7'], port, 'IPv4']);
    const { subsets } = await once(server, ENDPOINTS, () => true);
    assert.deepEqual(subsets, [
      { addresses: [{ ip: '192.0.2.7' }], ports: [{ name: 'https', port, protocol: 'TCP' }] },
    ]);
  });

  test('comes back, and so does its endpoint, whoever deletes or changes them', async () => {
    await using server = await startTestServer(HERE);
    const { client } = server;
    const port = portOf(server.url);
    const isRight = (slice: KubeObject & { ports?: { port?: number }[] | null }): boolean =>
      slice.ports?.[0]?.port === port;
    const { metadata } = await once(server, ENDPOINT_SLICES, isRight);
    await client.resource(ENDPOINT_SLICES).patch(REF, { type: 'merge', body: { ports: [{ name: 'https', port: 1 }] } });
    await once(server, ENDPOINT_SLICES, isRight);
    await client.resource(ENDPOINT_SLICES).delete(REF);
    await once(server, ENDPOINT_SLICES, (slice) => isRight(slice) && slice.metadata?.uid !== metadata?.uid);
    const { uid } = (await client.resource(SERVICES).get(REF)).metadata ?? {};
    await client.resource(SERVICES).delete(REF);
    await once(server, SERVICES, (service) => service.metadata?.uid !== uid);
  });

  test('leads elsewhere when the server starts again elsewhere', async () => {
    const inner = createMemoryStorage();
    const before = await startTestServer({ ...HERE, storage: inner });
    await once(before, ENDPOINT_SLICES, () => true);
    await before.stop();
    await using server = await startTestServer({ storage: inner, advertiseAddress: '192.0.2.8' });
    const port = portOf(server.url);
    await once(
      server,
      ENDPOINT_SLICES,
      ({ endpoints, ports }) => endpoints?.[0]?.addresses[0] === '192.0.2.8' && ports?.[0]?.port === port,
    );
  });

  test('is not there, or leads nowhere, where that is wanted', async () => {
    await using none = await startTestServer({ kubernetesService: false });
    await assert.rejects(none.client.resource(SERVICES).get(REF), { code: 404 });
    await using silent = await startTestServer({ advertiseAddress: 'none' });
    assert.equal((await silent.client.resource(SERVICES).get(REF)).metadata?.name, 'kubernetes');
    await assert.rejects(silent.client.resource(ENDPOINTS).get(REF), { code: 404 });
    await assert.rejects(
      startTestServer({ advertiseAddress: 'here' }),
      /`advertiseAddress` is an IP address or "none"/,
    );
  });
});

describe('the address that is advertised', () => {
  const nic = (address: string, family: 'IPv4' | 'IPv6', internal = false) => ({
    address,
    family,
    internal,
    netmask: '',
    mac: '',
    cidr: null,
    scopeid: 0,
  });
  const nics = {
    lo: [nic('127.0.0.1', 'IPv4', true)],
    eth0: [nic('fe80::1', 'IPv6'), nic('2001:db8::5', 'IPv6'), nic('192.0.2.5', 'IPv4')],
  } as ReturnType<typeof networkInterfaces>;
  const TABLE: [host: string, interfaces: ReturnType<typeof networkInterfaces>, expected: string | undefined][] = [
    ['203.0.113.9', nics, '203.0.113.9'],
    ['0.0.0.0', nics, '192.0.2.5'],
    ['127.0.0.1', nics, '192.0.2.5'],
    ['localhost', nics, '192.0.2.5'],
    ['::1', nics, '2001:db8::5'],
    ['::', nics, '192.0.2.5'],
    ['127.0.0.1', {}, undefined],
  ];
  for (const [host, interfaces, expected] of TABLE) {
    test(`${host} with ${Object.keys(interfaces).length} interfaces`, () => {
      assert.equal(advertisedAddress(host, interfaces), expected);
    });
  }
});

describe('the IPAddresses of Services', () => {
  const service = (name: string, spec: object = {}): KubeObject => ({
    metadata: { name, namespace: 'default' },
    spec: { ports: [{ port: 80 }], ...spec },
  });

  async function addresses(server: TestServer): Promise<string[]> {
    const { items } = await server.client.resource(IP_ADDRESSES).list();
    return items.map(({ metadata, spec }) => `${metadata?.name} ${spec?.parentRef?.name}`).sort();
  }

  test('come and go with them', async () => {
    await using server = await startTestServer({ kubernetesService: false });
    const services = server.client.resource(SERVICES);
    await services.create(service('a', { clusterIP: '10.96.0.200' }));
    await services.create(service('b', { clusterIP: 'None' }));
    assert.deepEqual(await addresses(server), ['10.96.0.200 a']);
    await services.patch(
      { namespace: 'default', name: 'a' },
      {
        type: 'merge',
        body: { spec: { type: 'ExternalName', externalName: 'x.io', clusterIP: '', clusterIPs: null } },
      },
    );
    assert.deepEqual(await addresses(server), []);
    await services.create(service('c', { clusterIP: '10.96.0.200' }));
    await services.delete({ namespace: 'default', name: 'c' });
    assert.deepEqual(await addresses(server), []);
  });

  test("one that is somebody else's is not given", async () => {
    await using server = await startTestServer({ kubernetesService: false });
    const parentRef = { group: 'x.io', resource: 'things', namespace: 'default', name: 't' };
    await server.client.resource(IP_ADDRESSES).create({ metadata: { name: '10.96.0.201' }, spec: { parentRef } });
    await assert.rejects(
      server.client.resource(SERVICES).create(service('a', { clusterIP: '10.96.0.201' })),
      /provided IP is already allocated/,
    );
  });

  test('are made for Services that had none', async () => {
    const storage: Storage = createMemoryStorage();
    await using registry = await createRegistry({ storage });
    const context = { user: TEST_USER, fieldManager: 'test' };
    const types = requireResource(registry, IP_ADDRESSES);
    await registry.create(registry.find('', 'v1', 'namespaces')!, { metadata: { name: 'default' } }, context);
    const at = { ...context, namespace: 'default' };
    await registry.create(requireResource(registry, SERVICES), service('a', { clusterIP: '10.96.0.9' }), at);
    await registry.delete(types, { name: '10.96.0.9' }, {}, context);
    await ensureServiceAddresses(registry, TEST_USER, Date.now());
    const { items } = await registry.list(types);
    assert.deepEqual(
      items.map((item) => item.parse().spec),
      [{ parentRef: { resource: 'services', namespace: 'default', name: 'a' } }],
    );
  });
});
