import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFile, stat } from 'node:fs/promises';
import { type AddressInfo, connect, createServer } from 'node:net';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { startTestServer } from '@asterism/apiserver/testing';
import { type Client, connectionFromKubeconfig, loadKubeconfig } from '@asterism/client';
import { until } from '@asterism/client/testing';
import {
  API_SERVICES as API_SERVICE_NAMES,
  API_VERSION,
  CLUSTERS,
  HUB_LEASE,
  HUB_SERVICE,
  memberProxyPath,
  PROPAGATION_POLICIES,
  type PropagationPolicy,
  RESOURCE_BINDINGS,
  SYSTEM_NAMESPACE,
  TEMPLATES_CONFIG_MAP,
} from '@asterism/fleet/api';
import {
  API_SERVICES,
  CLUSTER_ROLE_BINDINGS,
  CONFIG_MAPS,
  CUSTOM_RESOURCE_DEFINITIONS,
  LEASES,
  NAMESPACES,
  SERVICES,
} from '@asterism/machinery';
import { LeadershipLostError, type Logger, silentLogger } from '@asterism/runtime';
import type { HubOnKubernetes } from './create-hub-on-kubernetes.ts';
import { HubError } from './hub-error.ts';
import { TestHost } from './testing/test-host.ts';
import { call } from './testing/test-fleet.ts';

const SERVICE = { namespace: SYSTEM_NAMESPACE, name: HUB_SERVICE };
const LEASE = { namespace: SYSTEM_NAMESPACE, name: HUB_LEASE };
const RECORD = { namespace: SYSTEM_NAMESPACE, name: TEMPLATES_CONFIG_MAP };

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

describe('templates beside the host', () => {
  beforeEach(begin);
  afterEach(end);

  const embedded = { templates: 'embedded' } as const;
  const placement = { clusterAffinity: { clusterNames: ['edge-1'] } };
  const policy: PropagationPolicy = {
    apiVersion: API_VERSION,
    kind: 'PropagationPolicy',
    metadata: { namespace: 'shop', name: 'settings' },
    spec: { resourceSelectors: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'settings' }], placement },
  };
  const settings = { metadata: { namespace: 'shop', name: 'settings' }, data: { a: '1' } };

  /** An application at the templates' address, and its binding in the host. */
  async function place(templates: Client): Promise<string | undefined> {
    await templates.resource(NAMESPACES).create({ metadata: { name: 'shop' } });
    await templates.resource(CONFIG_MAPS).create(settings);
    await templates.resource(PROPAGATION_POLICIES).create(policy);
    const ref = { namespace: 'shop', name: 'settings-configmap' };
    const find = () => admin.resource(RESOURCE_BINDINGS).get(ref);
    await until(async () => (await find().catch(() => undefined)) !== undefined);
    return (await find()).metadata.uid;
  }

  test('are written at the hub’s address, policies with them; the host has the decision alone', async () => {
    const hub = await host.leading('first', embedded);
    const templates = host.at(hub, 'root', 'system:masters');
    await place(templates);
    await assert.rejects(admin.resource(CONFIG_MAPS).get(settings.metadata), { code: 404 });
    assert.equal(
      (await admin.resource(PROPAGATION_POLICIES).get({ namespace: 'shop', name: 'settings' })).metadata.name,
      'settings',
    );
    const alice = host.at(hub, 'alice');
    assert.equal((await call(alice, 'GET', '/api/v1/namespaces/shop/configmaps')).status, 403);
    assert.equal(
      (await call(alice, 'GET', '/apis/asterism.dev/v1alpha1/namespaces/shop/propagationpolicies')).status,
      403,
    );
  });

  test('have a kubeconfig with the credentials of the host’s, for this user alone', async () => {
    const hub = await host.leading('first', embedded);
    const file = join(host.folder, 'first', 'templates.kubeconfig');
    assert.equal((await stat(file)).mode & 0o777, 0o600);
    const connection = await connectionFromKubeconfig(await loadKubeconfig(file));
    assert.equal(connection.server, hub.url);
    await host.client(connection).resource(NAMESPACES).get({ name: 'default' });
    await assert.rejects(readFile(join(host.folder, 'first', 'kubeconfig')));
  });

  test('stay where they are: with the same store a hub goes on, with another or none it is refused', async () => {
    const hub = await host.leading('first', embedded);
    const bound = await place(host.at(hub, 'root', 'system:masters'));
    await hub.stop();
    for (const [name, options, says] of [
      ['another', embedded, /live in another embedded store/],
      ['none', {}, /live in the embedded store/],
    ] as const) {
      await assert.rejects(host.hub(name, options).start(), (error: unknown) => {
        assert.ok(error instanceof HubError && error.code === 'TemplatesElsewhere', String(error));
        assert.match(error.message, says);
        return true;
      });
    }
    const again = await host.leading('first', embedded);
    const { metadata } = await host.at(again, 'root', 'system:masters').resource(CONFIG_MAPS).get(settings.metadata);
    assert.equal(metadata?.name, 'settings');
    const ref = { namespace: 'shop', name: 'settings-configmap' };
    assert.equal((await admin.resource(RESOURCE_BINDINGS).get(ref)).metadata.uid, bound);
  });

  test('a standby that would look elsewhere finds out when it is elected, before it acts', async () => {
    const first = await host.leading('first');
    const second = host.hub('second');
    await second.start();
    // The fleet is handed over to embedded templates meanwhile, and what is placed from there does not go.
    await admin.resource(CONFIG_MAPS).create({ metadata: RECORD, data: { store: 'elsewhere' } });
    await admin.resource(RESOURCE_BINDINGS).create({
      apiVersion: API_VERSION,
      kind: 'ResourceBinding',
      metadata: { namespace: 'default', name: 'x', finalizers: ['example.com/stays'] },
      spec: { resource: { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'default', name: 'x' } },
    });
    await first.stop();
    await assert.rejects(second.done, { code: 'TemplatesElsewhere' });
    await assert.rejects(second.leading);
    assert.equal((await admin.resource(CONFIG_MAPS).get(RECORD)).data?.['store'], 'elsewhere');
  });

  test('nothing was placed from there: the host may have them again', async () => {
    const hub = await host.leading('first', embedded);
    await admin.resource(CONFIG_MAPS).get(RECORD);
    await hub.stop();
    await host.leading('second');
    await assert.rejects(admin.resource(CONFIG_MAPS).get(RECORD), { code: 404 });
  });
});

describe('definitions of another release', () => {
  beforeEach(begin);
  afterEach(end);

  const name = 'clusters.asterism.dev';
  const definitions = () => admin.resource(CUSTOM_RESOURCE_DEFINITIONS);
  const annotate = (release: string) => {
    const annotations = { 'asterism.dev/definition-digest': 'other', 'asterism.dev/release': release };
    const body = { metadata: { annotations }, spec: { names: { shortNames: ['changed'] } } };
    return definitions().patch({ name }, { type: 'merge', body });
  };
  const shortNames = async () => (await definitions().get({ name })).spec.names.shortNames;

  test('an older one is upgraded, a newer one stays as it is', async () => {
    await (await host.leading('first')).stop();
    await annotate('0.0.1');
    await (await host.leading('first')).stop();
    assert.deepEqual(await shortNames(), ['cl']);
    await annotate('99.0.0');
    const warnings: string[] = [];
    const logger = { ...silentLogger, warn: (_: object, message: string) => void warnings.push(message) };
    await (await host.leading('first', { logger })).stop();
    assert.deepEqual(await shortNames(), ['changed']);
    assert.match(warnings.join('\n'), /clusters\.asterism\.dev is of a newer hub \(99\.0\.0\).*upgrade this hub/);
  });

  test('one that somebody removes is made again, and the log says so', async () => {
    const warnings: string[] = [];
    const warn = (_: object, message: string) => void warnings.push(message);
    const logger: Logger = { ...silentLogger, warn, child: () => logger };
    await host.leading('first', { logger });
    const { uid } = (await definitions().get({ name })).metadata ?? {};
    await definitions().delete({ name });
    await until(async () => (await definitions().get({ name })).metadata?.uid !== uid);
    assert.deepEqual(await shortNames(), ['cl']);
    await until(async () => /installed again/.test(warnings.join()));
  });
});
