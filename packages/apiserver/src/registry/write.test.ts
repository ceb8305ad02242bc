import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type KubeObject } from '@asterism/machinery';
import {
  NAMESPACE,
  openTestRegistry,
  patch,
  refused,
  remove,
  type TestRegistry,
  WEB,
} from '../compose/testing/test-registry.ts';

function update(t: TestRegistry, place: string, object: KubeObject, options = {}) {
  const ref = { ...NAMESPACE, name: object.metadata?.name ?? '' };
  return t.registry.update(t.resource(place), ref, object, t.context(options));
}

describe('create', () => {
  test('fills what only the server knows', async () => {
    await using t = await openTestRegistry({ clock: () => Date.parse('2026-01-02T03:04:05.678Z') });
    const { metadata } = await t.create('v1/configmaps', {
      metadata: {
        name: 'a',
        uid: 'mine',
        creationTimestamp: '2001-01-01T00:00:00Z',
        deletionTimestamp: '2001-01-01T00:00:00Z',
      },
    });
    assert.match(metadata?.uid ?? '', /^[0-9a-f]{8}-/);
    assert.equal(metadata?.creationTimestamp, '2026-01-02T03:04:05Z');
    assert.equal(metadata?.deletionTimestamp, undefined);
    assert.equal(metadata?.namespace, 'default');
    assert.equal(metadata?.resourceVersion, t.registry.resourceVersion);
  });

  test('makes names, and another one where it is taken', async () => {
    let draws = 0;
    // The first two names are the same.
    await using t = await openTestRegistry({ random: () => (draws++ < 10 ? 0 : 0.5) });
    const first = await t.create('v1/configmaps', { metadata: { generateName: 'web-' } });
    const second = await t.create('v1/configmaps', { metadata: { generateName: 'web-' } });
    assert.match(first.metadata?.name ?? '', /^web-[a-z0-9]{5}$/);
    assert.notEqual(first.metadata?.name, second.metadata?.name);
  });

  test('refuses what upstream refuses, in its words', async () => {
    await using t = await openTestRegistry();
    await t.create('v1/configmaps', { metadata: { name: 'a' } });
    const create = (object: KubeObject, options = {}) => t.create('v1/configmaps', object, options);
    await refused(create({ metadata: { name: 'a' } }), 409, 'configmaps "a" already exists', 'AlreadyExists');
    await refused(create({ metadata: {} }), 422, /metadata.name: Required value: name or generateName is required/);
    await refused(create({ metadata: { name: 'Upper' } }), 422, /a lowercase RFC 1123 subdomain/);
    await refused(
      create({ metadata: { name: 'b', namespace: 'x' } }, NAMESPACE),
      400,
      /does not match the namespace sent on the request/,
    );
    await refused(create({ metadata: { name: 'b', resourceVersion: '5' } }), 500, /resourceVersion should not be set/);
    await refused(create({ metadata: { name: 'b', namespace: 'none' } }), 404, 'namespaces "none" not found');
    await refused(
      create({ kind: 'Secret', apiVersion: 'v1', metadata: { name: 'b' } }),
      400,
      /cannot be handled as a ConfigMap/,
    );
    await refused(
      create({ apiVersion: 'v2', metadata: { name: 'b' } }),
      400,
      /does not match the expected API version \(v1\)/,
    );
    await refused(
      create({ metadata: { name: 'b' }, data: { a: 1 } }),
      400,
      /cannot unmarshal number into Go struct field ConfigMap.data of type string/,
    );
    await refused(
      create({ metadata: { name: 'b', labels: { 'bad key': 'x' } } }),
      422,
      /metadata.labels: Invalid value: "bad key"/,
    );
  });

  test('unknown fields are an error, a warning or nothing, and never stored', async () => {
    await using t = await openTestRegistry();
    const object = (name: string): KubeObject => ({ metadata: { name }, data: { a: 'b' }, nope: 1 });
    await refused(
      t.create('v1/configmaps', object('a'), { fieldValidation: 'Strict' }),
      400,
      'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: unknown field "nope"',
    );
    assert.equal((await t.create('v1/configmaps', object('b'))).nope, undefined);
    assert.deepEqual(t.warnings, ['unknown field "nope"']);
    await t.create('v1/configmaps', object('c'), { fieldValidation: 'Ignore' });
    assert.equal(t.warnings.length, 1);
    const duplicate = { fieldValidation: 'Strict' as const, strictErrors: ['duplicate field "data.a"'] };
    await refused(
      t.create('v1/configmaps', { metadata: { name: 'd' } }, duplicate),
      400,
      /strict decoding error: duplicate field "data.a"/,
    );
  });

  test('a dry run does everything but store', async () => {
    await using t = await openTestRegistry();
    const before = t.registry.resourceVersion;
    const shown = await t.create('apps/v1/deployments', WEB, { dryRun: true });
    assert.equal(shown.metadata?.generation, 1);
    assert.ok(shown.metadata.uid);
    assert.equal(t.registry.resourceVersion, before);
    await refused(t.get('apps/v1/deployments', 'web'), 404);
    await refused(t.create('apps/v1/deployments', { metadata: { name: 'x' } }, { dryRun: true }), 422);
  });
});

describe('update', () => {
  test('with the resourceVersion that was read, or with none', async () => {
    await using t = await openTestRegistry();
    const first = await t.create('v1/configmaps', { metadata: { name: 'a' }, data: { n: '1' } });
    await update(t, 'v1/configmaps', { ...first, data: { n: '2' } });
    await refused(
      update(t, 'v1/configmaps', { ...first, data: { n: '3' } }),
      409,
      'Operation cannot be fulfilled on configmaps "a": the object has been modified; please apply your changes to the latest version and try again',
      'Conflict',
    );
    await update(t, 'v1/configmaps', { metadata: { name: 'a' }, data: { n: '4' } });
    assert.deepEqual((await t.get('v1/configmaps', 'a')).data, { n: '4' });
    await refused(update(t, 'v1/configmaps', { metadata: { name: 'a', resourceVersion: 'abc' } }), 500);
    await refused(
      update(t, 'v1/configmaps', { metadata: { name: 'a', uid: 'other' } }),
      409,
      /Precondition failed: UID/,
    );
    await refused(update(t, 'v1/configmaps', { metadata: { name: 'none' } }), 404);
    const ref = { ...NAMESPACE, name: 'a' };
    await refused(
      t.registry.update(t.resource('v1/configmaps'), ref, { metadata: { name: 'b' } }, t.context()),
      400,
      /does not match the name on the URL/,
    );
  });

  test('a Lease wants to be told, and comes by a PUT', async () => {
    await using t = await openTestRegistry();
    const lease = { metadata: { name: 'l' }, spec: { holderIdentity: 'me' } };
    assert.equal((await update(t, 'coordination.k8s.io/v1/leases', lease)).created, true);
    await refused(
      update(t, 'coordination.k8s.io/v1/leases', lease),
      422,
      /metadata.resourceVersion: Invalid value: 0: must be specified for an update/,
    );
  });

  test('one that changes nothing is no change', async () => {
    await using t = await openTestRegistry();
    const first = await t.create('apps/v1/deployments', WEB);
    const stream = await t.registry.watch(t.resource('apps/v1/deployments'), {
      ...NAMESPACE,
      resourceVersion: t.registry.resourceVersion,
    });
    const { stored } = await update(t, 'apps/v1/deployments', first);
    await patch(t, 'apps/v1/deployments', 'web', { spec: { replicas: 1 } });
    assert.equal(stored.resourceVersion, first.metadata?.resourceVersion);
    assert.deepEqual(stream.take(), []);
  });

  test('the generation counts what the user wants, not labels and status', async () => {
    await using t = await openTestRegistry();
    await t.create('apps/v1/deployments', WEB);
    const generation = async (): Promise<number | undefined> =>
      (await t.get('apps/v1/deployments', 'web')).metadata?.generation;
    await patch(t, 'apps/v1/deployments', 'web', { metadata: { labels: { a: 'b' } } });
    assert.equal(await generation(), 1);
    await patch(t, 'apps/v1/deployments', 'web', { spec: { replicas: 4 } });
    assert.equal(await generation(), 2);
    await patch(t, 'apps/v1/deployments', 'web', { metadata: { generation: 77 }, status: { replicas: 9 } });
    assert.equal(await generation(), 2);
    await patch(t, 'apps/v1/deployments', 'web', { spec: { replicas: 9 }, status: { replicas: 4 } }, 'merge', {
      subresource: 'status',
    });
    assert.equal(await generation(), 2);
    const now = await t.get('apps/v1/deployments', 'web');
    assert.deepEqual(
      [(now.spec as { replicas: number }).replicas, (now.status as { replicas: number }).replicas],
      [4, 4],
    );
  });

  test('a refusal shows the patched object escaped, and the start of a long one', async () => {
    await using t = await openTestRegistry();
    await t.create('v1/configmaps', { metadata: { name: 'a' } });
    const refusal = (data: unknown) =>
      patch(t, 'v1/configmaps', 'a', [{ op: 'add', path: '/data', value: data }], 'json');
    await refused(refusal({ '<': 1 }), 422, /\\"data\\":\{\\"\\\\u003c\\":1\}/);
    await refused(
      refusal({ ['<'.repeat(3_000_000)]: 1 }),
      422,
      /^.{100,40000}\.\.\. \(\d+ characters\)": .*cannot unmarshal number/,
    );
  });

  test('of fifty patches at once none is lost', async () => {
    await using t = await openTestRegistry();
    await t.create('v1/configmaps', { metadata: { name: 'a' } });
    const all = Array.from({ length: 50 }, (_, i) => patch(t, 'v1/configmaps', 'a', { data: { [`k${i}`]: 'v' } }));
    await Promise.all(all);
    assert.equal(Object.keys((await t.get('v1/configmaps', 'a')).data as object).length, 50);
  });

  test('a patch that says what it saw conflicts, like a PUT', async () => {
    await using t = await openTestRegistry();
    const { metadata } = await t.create('v1/configmaps', { metadata: { name: 'a' } });
    await patch(t, 'v1/configmaps', 'a', { data: { x: '1' } });
    await refused(
      patch(t, 'v1/configmaps', 'a', { metadata: { resourceVersion: metadata?.resourceVersion }, data: { x: '2' } }),
      409,
    );
    await refused(
      patch(t, 'v1/configmaps', 'a', { metadata: { uid: 'other' } }),
      422,
      /metadata.uid: Invalid value: "other": field is immutable/,
    );
  });

  test('strategic patches merge containers by name; of custom kinds there are none', async () => {
    await using t = await openTestRegistry();
    await t.create('apps/v1/deployments', WEB);
    const container = { name: 'side', image: 'busybox:1' };
    await patch(
      t,
      'apps/v1/deployments',
      'web',
      { spec: { template: { spec: { containers: [container] } } } },
      'strategic',
    );
    const now = (await t.get('apps/v1/deployments', 'web')) as { spec?: typeof WEB.spec };
    assert.deepEqual(
      now.spec?.template.spec.containers.map(({ name }) => name),
      ['side', 'c'],
    );
  });

  test('json patches may fail on their test', async () => {
    await using t = await openTestRegistry();
    await t.create('v1/configmaps', { metadata: { name: 'a' }, data: { x: '1' } });
    await refused(patch(t, 'v1/configmaps', 'a', [{ op: 'test', path: '/data/x', value: '2' }], 'json'), 422);
    await patch(t, 'v1/configmaps', 'a', [{ op: 'replace', path: '/data/x', value: '3' }], 'json');
    assert.deepEqual((await t.get('v1/configmaps', 'a')).data, { x: '3' });
  });

  test('managers own what they set, and an apply conflicts over it', async () => {
    await using t = await openTestRegistry();
    const apply = (data: object, fieldManager: string, force = false) =>
      t.registry.patch(
        t.resource('v1/configmaps'),
        { ...NAMESPACE, name: 'a' },
        { type: 'apply', body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data }, force },
        t.context({ fieldManager }),
      );
    assert.equal((await apply({ x: '1' }, 'one')).created, true);
    assert.equal((await apply({ x: '1' }, 'two')).created, false);
    await refused(apply({ x: '2' }, 'two'), 409, /conflict/i);
    await apply({ x: '2' }, 'two', true);
    const { metadata, data } = await t.get('v1/configmaps', 'a');
    assert.deepEqual(data, { x: '2' });
    assert.deepEqual(
      metadata?.managedFields?.map(({ manager, operation }) => [manager, operation]),
      [['two', 'Apply']],
    );
    await patch(t, 'v1/configmaps', 'a', { data: { y: '1' } }, 'merge', { fieldManager: 'editor' });
    const after = (await t.get('v1/configmaps', 'a')).metadata?.managedFields ?? [];
    assert.deepEqual(after.map(({ manager, operation }) => `${manager} ${operation}`).sort(), [
      'editor Update',
      'two Apply',
    ]);
  });
});

describe('managedFields', () => {
  test('an empty list forgets all owners, and is not itself stored', async () => {
    await using t = await openTestRegistry();
    await t.create('v1/configmaps', { metadata: { name: 'a' }, data: { x: '1' } });
    assert.equal((await t.get('v1/configmaps', 'a')).metadata?.managedFields?.length, 1);
    await patch(t, 'v1/configmaps', 'a', { metadata: { managedFields: [] } });
    assert.equal((await t.get('v1/configmaps', 'a')).metadata?.managedFields, undefined);
  });
});

describe('admission', () => {
  test('steps see the object with its defaults, may change it, and may refuse', async () => {
    const seen: string[] = [];
    await using t = await openTestRegistry({
      admission: [
        {
          async admit({ operation, resource, object, oldObject, user, dryRun }) {
            if (resource.type.resource !== 'deployments') return object;
            const replicas = (object?.spec as { replicas?: number } | undefined)?.replicas;
            seen.push(`${operation} ${replicas} ${oldObject !== undefined} ${user.username} ${dryRun}`);
            if (operation === 'DELETE') throw new Error('not now');
            return object && { ...object, metadata: { ...object.metadata, labels: { admitted: 'yes' } } };
          },
        },
      ],
    });
    const created = await t.create('apps/v1/deployments', WEB);
    assert.deepEqual(created.metadata?.labels, { admitted: 'yes' });
    await patch(t, 'apps/v1/deployments', 'web', { spec: { replicas: 3 } });
    await assert.rejects(remove(t, 'apps/v1/deployments', 'web'), /not now/);
    assert.deepEqual(seen, [
      'CREATE 1 false tester false',
      'UPDATE 3 true tester false',
      'DELETE undefined true tester false',
    ]);
  });
});
