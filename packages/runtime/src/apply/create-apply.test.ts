import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { startTestServer, type TestServer } from '@asterism/apiserver/testing';
import {
  CONFIG_MAPS,
  CUSTOM_RESOURCE_DEFINITIONS,
  type CustomResourceDefinition,
  DEPLOYMENTS,
  type Deployment,
  isConditionTrue,
  isConflict,
  isNotFound,
  isStatusError,
  type KubeObject,
  type ResourceType,
} from '@asterism/machinery';
import type { ApplyConfiguration } from './apply-configuration.ts';
import { createApply } from './create-apply.ts';
import { extractApplied } from './extract-applied.ts';

let server: TestServer;
let nth = 0;
let metadata: { namespace: string; name: string };

before(async () => {
  server = await startTestServer();
});
after(() => server.stop());
beforeEach(() => {
  metadata = { namespace: 'default', name: `web-${++nth}` };
});

const apply = createApply({ fieldManager: 'mine' });
const theirs = createApply({ fieldManager: 'theirs' });
const web = (): ApplyConfiguration<Deployment> => ({
  metadata: { ...metadata, labels: { app: 'web' }, finalizers: ['example.dev/mine'] },
  spec: {
    replicas: 2,
    selector: { matchLabels: { app: 'web' } },
    template: {
      metadata: { labels: { app: 'web' } },
      spec: {
        containers: [
          { name: 'web', image: 'web:1', ports: [{ containerPort: 80, protocol: 'TCP' }], args: ['a', 'b'] },
        ],
      },
    },
  },
});

describe('apply', () => {
  test('creates, changes, and removes what is not wanted any more', async () => {
    await apply(server.client, CONFIG_MAPS, { metadata, data: { a: '1', b: '2' } });
    await theirs(server.client, CONFIG_MAPS, { metadata, data: { c: '3' } });
    const after = await apply(server.client, CONFIG_MAPS, { metadata, data: { a: '4' } });
    assert.deepEqual(after.data, { a: '4', c: '3' });
    assert.deepEqual([after.apiVersion, after.kind], ['v1', 'ConfigMap']);
  });

  test('takes fields from others, unless told not to', async () => {
    await theirs(server.client, CONFIG_MAPS, { metadata, data: { a: 'theirs' } });
    const polite = createApply({ fieldManager: 'mine', force: false });
    await assert.rejects(polite(server.client, CONFIG_MAPS, { metadata, data: { a: 'mine' } }), (error) => {
      return isConflict(error) && error.status.details?.causes?.[0]?.field === '.data.a';
    });
    const { data } = await apply(server.client, CONFIG_MAPS, { metadata, data: { a: 'mine' } });
    assert.deepEqual(data, { a: 'mine' });
  });

  test('for a uid it creates nothing, and touches no other object of the name', async () => {
    const uid = '00000000-0000-0000-0000-000000000000';
    const wanted = { metadata: { ...metadata, uid }, data: { a: '1' } };
    await assert.rejects(apply(server.client, CONFIG_MAPS, wanted), isConflict);
    await assert.rejects(server.client.resource(CONFIG_MAPS).get(metadata), isNotFound);
    await apply(server.client, CONFIG_MAPS, { metadata });
    await assert.rejects(apply(server.client, CONFIG_MAPS, wanted), (error) => isStatusError(error, 'Invalid'));
  });

  test('writes status by its subresource, and nothing else there', async () => {
    await assert.rejects(apply.status(server.client, DEPLOYMENTS, { metadata, status: { replicas: 1 } }), isNotFound);
    await apply(server.client, DEPLOYMENTS, web());
    const { status, spec } = await apply.status(server.client, DEPLOYMENTS, { metadata, status: { replicas: 1 } });
    assert.deepEqual([status?.replicas, spec?.replicas], [1, 2]);
  });

  test('dryRun stores nothing', async () => {
    await apply(server.client, CONFIG_MAPS, { metadata }, { dryRun: true });
    await assert.rejects(server.client.resource(CONFIG_MAPS).get(metadata), isNotFound);
  });

  test('a field that the kind has not is refused, by the types and by the server', async () => {
    // @ts-expect-error spec.replica is no field of a Deployment
    const misspelt: ApplyConfiguration<Deployment> = { ...web(), spec: { replica: 3 } };
    await assert.rejects(
      apply(server.client, DEPLOYMENTS, misspelt),
      (error) => isStatusError(error) && /replica/.test(error.message),
    );
    // @ts-expect-error status is not applied with the rest
    const withStatus: ApplyConfiguration<Deployment> = { metadata, status: { replicas: 1 } };
    // @ts-expect-error the server alone writes it
    const withTime: ApplyConfiguration<Deployment> = { metadata: { ...metadata, creationTimestamp: 'now' } };
    // @ts-expect-error it needs a name
    const nameless: ApplyConfiguration<Deployment> = { metadata: { namespace: 'default' } };
    type Wanted = ApplyConfiguration<Deployment>;
    // @ts-expect-error a number, at any depth
    const wrong: Wanted = { metadata, spec: { template: { spec: { containers: [{ name: 1 }] } } } };
    assert.ok([withStatus, withTime, nameless, wrong].every(Boolean));
  });

  test('also one of a custom resource, which a plain create would lose', async () => {
    const spec = { type: 'object', properties: { schedule: { type: 'string' } } };
    const schema = { openAPIV3Schema: { type: 'object', properties: { spec } } };
    await server.client.resource(CUSTOM_RESOURCE_DEFINITIONS).create({
      metadata: { name: 'backups.example.dev' },
      spec: {
        group: 'example.dev',
        scope: 'Namespaced',
        names: { plural: 'backups', kind: 'Backup' },
        versions: [{ name: 'v1', served: true, storage: true, schema }],
      },
    });
    const established = ({ status }: CustomResourceDefinition) => isConditionTrue(status?.conditions, 'Established');
    const resource = server.client.resource(CUSTOM_RESOURCE_DEFINITIONS);
    for await (const event of resource.watch({ fieldSelector: 'metadata.name=backups.example.dev' })) {
      if (event.type !== 'BOOKMARK' && event.type !== 'ERROR' && established(event.object)) break;
    }
    const type = { group: 'example.dev', version: 'v1', resource: 'backups', kind: 'Backup', namespaced: true };
    const wanted = { metadata, spec: { schedul: 'daily' } };
    await assert.rejects(apply(server.client, type, wanted), /\.spec\.schedul: field not declared in schema/);
  });

  test("types: a kind of one's own, with the index signature of KubeObject or without any shape", () => {
    interface Backup extends KubeObject {
      spec?: { schedule: string; keep?: { days: number; labels?: Record<string, string> }[] };
      status?: { last?: string };
    }
    const backup: ApplyConfiguration<Backup> = {
      metadata: { name: 'a' },
      spec: { keep: [{ labels: { any: 'thing' } }] },
    };
    // @ts-expect-error no such field of a Backup
    const other: ApplyConfiguration<Backup> = { metadata: { name: 'a' }, data: {} };
    const untyped: ApplyConfiguration<KubeObject> = { metadata: { name: 'a' }, anything: { goes: 1 } };
    const BACKUPS: ResourceType<Backup> = {
      group: 'x',
      version: 'v1',
      resource: 'backups',
      kind: 'Backup',
      namespaced: true,
    };
    const call = () => apply.status(server.client, BACKUPS, { metadata: { name: 'a' }, status: { last: 'now' } });
    const named = { metadata: { name: 'a' } };
    // @ts-expect-error no such field of its status
    const badCall = () => apply.status(server.client, BACKUPS, { ...named, status: { lst: 'now' } });
    assert.ok([backup, other, untyped, call, badCall].every(Boolean));
  });
});

describe('extractApplied', () => {
  test('gives back what was applied, whatever others and defaults have added', async () => {
    await apply(server.client, DEPLOYMENTS, web());
    await theirs(server.client, DEPLOYMENTS, {
      metadata: { ...metadata, labels: { team: 'theirs' } },
      spec: { paused: true },
    });
    const live = await server.client.resource(DEPLOYMENTS).get(metadata);
    const mine = extractApplied(live, { fieldManager: 'mine' });
    assert.deepEqual(mine, { apiVersion: 'apps/v1', kind: 'Deployment', ...web() });
    const { metadata: theirMetadata } = extractApplied(live, { fieldManager: 'theirs' });
    assert.deepEqual(theirMetadata, { ...metadata, labels: { team: 'theirs' } });
    const again = await apply(server.client, DEPLOYMENTS, mine);
    assert.equal(again.metadata?.resourceVersion, live.metadata?.resourceVersion);
  });

  test('is the name alone where nothing was applied, and an error where that cannot be known', async () => {
    const live = await server.client.resource(CONFIG_MAPS).create({ metadata, data: { a: '1' } });
    assert.deepEqual(extractApplied(live, { fieldManager: 'mine' }), { apiVersion: 'v1', kind: 'ConfigMap', metadata });
    const cached = { ...live, metadata: { ...metadata } };
    assert.throws(() => extractApplied(cached, { fieldManager: 'mine' }), /came without managedFields: get it/);
  });
});
