import assert from 'node:assert/strict';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { type Client, connectionFromKubeconfig, loadKubeconfig } from '@asterism/client';
import { until } from '@asterism/client/testing';
import {
  API_VERSION,
  PROPAGATION_POLICIES,
  type PropagationPolicy,
  RESOURCE_BINDINGS,
  SYSTEM_NAMESPACE,
  TEMPLATES_CONFIG_MAP,
} from '@asterism/fleet/api';
import { CONFIG_MAPS, NAMESPACES } from '@asterism/machinery';
import { HubError } from './hub-error.ts';
import { TestHost } from './testing/test-host.ts';
import { call } from './testing/test-fleet.ts';

const RECORD = { namespace: SYSTEM_NAMESPACE, name: TEMPLATES_CONFIG_MAP };

let host: TestHost;
let admin: Client;

beforeEach(async () => {
  host = await TestHost.start();
  admin = host.server.client;
});

afterEach(async () => {
  await host[Symbol.asyncDispose]();
});

describe('templates beside the host', () => {
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
