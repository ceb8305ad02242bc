import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { startTestServer } from '@asterism/apiserver/testing';
import type { Client } from '@asterism/client';
import {
  API_SERVICES as API_SERVICE_NAMES,
  CLUSTERS,
  HUB_LEASE,
  HUB_SERVICE,
  memberProxyPath,
  SYSTEM_NAMESPACE,
} from '@asterism/fleet/api';
import { API_SERVICES, CLUSTER_ROLE_BINDINGS, LEASES, SERVICES } from '@asterism/machinery';
import { LeadershipLostError, type Logger, silentLogger } from '@asterism/runtime';
import type { HubOnKubernetes } from './create-hub-on-kubernetes.ts';
import { HubError } from './hub-error.ts';
import { TestHost, until } from './testing/test-host.ts';
import { call } from './testing/test-fleet.ts';

const SERVICE = { namespace: SYSTEM_NAMESPACE, name: HUB_SERVICE };
const LEASE = { namespace: SYSTEM_NAMESPACE, name: HUB_LEASE };

let host: TestHost;
let admin: Client;

async function begin(): Promise<void> {
  host = await TestHost.start();
  admin = host.server.client;
}

async function end(): Promise<void> {
  await host[Symbol.asyncDispose]();
}

/** What the host leads its callers to. */
async function registered() {
  const service = await admin.resource(SERVICES).get(SERVICE);
  const apiServices = await Promise.all(API_SERVICE_NAMES.map((name) => admin.resource(API_SERVICES).get({ name })));
  return { service, apiServices };
}

const versions = ({ service, apiServices }: Awaited<ReturnType<typeof registered>>) =>
  [service, ...apiServices].map(({ metadata }) => metadata?.resourceVersion);

describe('a hub on a kube-apiserver', () => {
  let hub: HubOnKubernetes;

  before(async () => {
    await begin();
    hub = await host.leading('first');
  });

  after(end);

  test('installs the kinds and registers itself when it leads', async () => {
    assert.deepEqual((await admin.resource(CLUSTERS).list()).items, []);
    const { service, apiServices } = await registered();
    assert.equal(service.spec?.externalName, 'localhost');
    for (const { spec } of apiServices) {
      assert.equal(spec?.service?.port, Number(new URL(hub.url).port));
      assert.equal(Buffer.from(spec?.caBundle ?? '', 'base64').toString(), hub.ca);
    }
  });

  test('makes nobody an administrator of somebody else’s API server', async () => {
    const bindings = await admin.resource(CLUSTER_ROLE_BINDINGS).list();
    const made = bindings.items.filter(({ metadata }) => metadata?.name?.startsWith('asterism'));
    assert.deepEqual(
      made.map(({ metadata, roleRef }) => [metadata?.name, roleRef.name]),
      [['asterism:register', 'asterism:register']],
    );
  });

  test('asks the host who callers are and what they may do', async () => {
    const path = memberProxyPath('nowhere');
    const status = async (client: Client): Promise<number> => (await call(client, 'GET', path)).status;
    assert.equal(await status(host.at(hub, 'root', 'system:masters')), 404);
    assert.equal(await status(host.at(hub, 'alice')), 403);
    const claims = { 'x-remote-user': 'root', 'x-remote-group': 'system:masters' };
    assert.equal((await call(host.at(hub, 'alice'), 'GET', path, { headers: claims })).status, 403);
    const credential = { kind: 'token', token: 'made up' } as const;
    assert.equal(await status(host.client({ server: hub.url, caData: hub.ca, credential })), 401);
  });

  test('serves no kinds of its own', async () => {
    const found = await call(host.at(hub, 'root', 'system:masters'), 'GET', '/api/v1/namespaces');
    assert.equal(found.status, 404);
  });

  test('puts right what somebody changes or removes', async () => {
    const before = await registered();
    await admin.resource(SERVICES).delete(SERVICE);
    await until(async () => (await registered()).service.metadata?.uid !== before.service.metadata?.uid);
    const name = API_SERVICE_NAMES[0] ?? '';
    await admin.resource(API_SERVICES).patch({ name }, { type: 'merge', body: { spec: { caBundle: 'AAAA' } } });
    await until(async () => {
      const { spec } = await admin.resource(API_SERVICES).get({ name });
      return spec?.caBundle === before.apiServices[0]?.spec?.caBundle;
    });
  });

  test('advertises what it is told; every address is none', async () => {
    await hub.stop();
    const told = host.hub('first', { advertise: { host: 'hub.example', port: 443 } });
    await told.start();
    await until(async () => {
      const { service, apiServices } = await registered();
      return service.spec?.externalName === 'hub.example' && apiServices[0]?.spec?.service?.port === 443;
    });
    assert.equal(told.url, 'https://hub.example:443');
    const isAddressNeeded = (error: unknown) => error instanceof HubError && error.code === 'AddressNeeded';
    assert.throws(() => host.hub('second', { listen: { host: '0.0.0.0', port: 0 } }), isAddressNeeded);
  });
});

describe('several hubs', () => {
  beforeEach(begin);
  afterEach(end);

  test('one leads; when it stops the other takes over and registers itself; the first comes back and writes nothing', async () => {
    const first = await host.leading('first');
    const second = host.hub('second');
    await second.start();
    const before = await registered();
    assert.match((await admin.resource(LEASES).get(LEASE)).spec?.holderIdentity ?? '', /^first_/);
    await first.stop();
    await first.done;
    await second.leading;
    const after = await registered();
    assert.equal(after.apiServices[0]?.spec?.service?.port, Number(new URL(second.url).port));
    assert.equal(after.service.metadata?.uid, before.service.metadata?.uid);
    const again = host.hub('first');
    await again.start();
    assert.deepEqual(versions(await registered()), versions(after));
  });

  test('another holds the Lease: this one ends, and takes its server with it', async () => {
    const hub = await host.leading('first');
    const spec = { holderIdentity: 'other', leaseDurationSeconds: 15, leaseTransitions: 7 };
    await admin.resource(LEASES).patch(LEASE, { type: 'merge', body: { spec } });
    await assert.rejects(hub.done, (error) => error instanceof LeadershipLostError);
    await assert.rejects(call(host.at(hub, 'root', 'system:masters'), 'GET', '/healthz'), { code: 'ECONNREFUSED' });
  });

  test('leading is said when the host reaches it, and why it does not until then', async () => {
    host.reaches = false;
    const warnings: object[] = [];
    const warn = (fields: object) => void warnings.push(fields);
    const logger: Logger = { ...silentLogger, warn, child: () => logger };
    const hub = host.hub('first', { logger });
    await hub.start();
    await until(async () =>
      warnings.some((fields) => 'reason' in fields && /ECONNREFUSED/.test(String(fields.reason))),
    );
    let led = false;
    void hub.leading.then(() => (led = true));
    await new Promise(setImmediate);
    assert.equal(led, false);
    host.reaches = true;
    await hub.leading;
  });

  test('stopped before it led', async () => {
    await host.leading('first');
    const second = host.hub('second');
    await second.start();
    await second.stop();
    await assert.rejects(second.leading, /stopped before it led/);
    await second.done;
  });
});

describe('a host that is away', () => {
  beforeEach(begin);
  afterEach(end);

  test('is waited for, until somebody says enough', async () => {
    const nobody = createServer().listen(0, '127.0.0.1');
    await once(nobody, 'listening');
    const { port } = nobody.address() as AddressInfo;
    nobody.close();
    const connection = { ...host.server.connection, server: `https://127.0.0.1:${port}` };
    const waits = Promise.withResolvers<void>();
    const logger = { ...silentLogger, warn: () => waits.resolve() };
    const hub = host.hub('first', { host: connection, logger });
    const starting = hub.start();
    starting.catch(() => {});
    await waits.promise;
    await hub.stop();
    await assert.rejects(starting, /the hub was stopped/);
    await assert.rejects(hub.leading);
  });

  test('is used as soon as it is there', async () => {
    // What stands at its address at first cannot be spoken to.
    let open = false;
    const { port: target } = new URL(host.server.url);
    const door = createServer((socket) => {
      if (!open) return socket.destroy();
      const onward = connect(Number(target), '127.0.0.1');
      onward.on('error', () => socket.destroy());
      socket.on('error', () => onward.destroy());
      socket.pipe(onward).pipe(socket);
    }).listen(0, '127.0.0.1');
    await once(door, 'listening');
    const { port } = door.address() as AddressInfo;
    const connection = { ...host.server.connection, server: `https://127.0.0.1:${port}` };
    const waits = Promise.withResolvers<void>();
    const hub = host.hub('first', { host: connection, logger: { ...silentLogger, warn: () => waits.resolve() } });
    const starting = hub.start();
    await waits.promise;
    open = true;
    await starting;
    await hub.leading;
    await hub.stop();
    door.close();
  });

  test('that another stands in for is not', async () => {
    await using other = await startTestServer();
    const hub = host.hub('first', { host: { ...host.server.connection, server: other.url } });
    await assert.rejects(hub.start(), (error) => error instanceof HubError && error.code === 'HostUnusable');
  });
});
