import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  BUILTIN_RESOURCES,
  formatApiVersion,
  formatGroupResource,
  isStatusError,
  type KubeObject,
} from '@asterism/machinery';
import { openTestRegistry, type TestRegistry } from '../compose/testing/test-registry.ts';
import type { ServedVersion } from '../registry/served-version.ts';
import { bookmarkItem } from '../registry/watch-item.ts';
import { builtinKinds } from './builtin-kinds.ts';
import type { ServiceAllocator } from './service/service-allocator.ts';
import { faultsOf, patchFaultsOf } from './testing/test-faults.ts';

/** Nothing is allocated by listing the kinds. */
const KINDS = builtinKinds({} as ServiceAllocator);
const META = { name: 'x' };
const RBAC = 'rbac.authorization.k8s.io';
const POD = { containers: [{ name: 'c', image: 'i' }] };

async function put(t: TestRegistry, place: string, object: KubeObject): Promise<number> {
  const resource = t.resource(place);
  const ref = { name: 'x', ...(resource.type.namespaced ? { namespace: 'default' } : {}) };
  try {
    const { created } = await t.registry.update(resource, ref, { metadata: META, ...object }, t.context(ref));
    return created ? 201 : 200;
  } catch (error) {
    if (isStatusError(error)) return error.code;
    throw error;
  }
}

describe('the list of kinds', () => {
  test('every resource that can be updated is of a kind in the list', async () => {
    await using t = await openTestRegistry();
    const writable = t.registry.served().filter(({ verbs }) => verbs.includes('update'));
    assert.ok(writable.length > 50);
    for (const { type } of writable) {
      const { strategy, groupResource } = t.resource(`${formatApiVersion(type)}/${type.resource}`) as ServedVersion;
      assert.notDeepEqual(strategy, {}, groupResource);
    }
  });

  test('every kind, conversion and older version in the list is of a resource of Kubernetes', () => {
    const resources = new Set(BUILTIN_RESOURCES.map(formatGroupResource));
    const versions = new Set(BUILTIN_RESOURCES.map((each) => `${formatApiVersion(each)}/${each.resource}`));
    for (const { groupResource, conversions = {}, legacyVersions = [] } of KINDS) {
      const [resource] = groupResource.split('.', 1);
      assert.ok(resources.has(groupResource), groupResource);
      for (const apiVersion of Object.keys(conversions)) assert.ok(versions.has(`${apiVersion}/${resource}`));
      for (const legacy of legacyVersions) assert.ok(!versions.has(`${formatApiVersion(legacy)}/${resource}`));
    }
  });

  test('no kind is in the list twice', () => {
    assert.equal(new Set(KINDS.map(({ groupResource }) => groupResource)).size, KINDS.length);
  });
});

describe('a finalizer without a domain', () => {
  const rows: readonly (readonly [place: string, faults: readonly string[]])[] = [
    ['v1/configmaps', ['name is neither a standard finalizer name nor is it fully qualified']],
    ['admissionregistration.k8s.io/v1/validatingwebhookconfigurations', []],
    ['admissionregistration.k8s.io/v1/mutatingadmissionpolicybindings', []],
  ];
  for (const [place, faults] of rows) {
    test(place, async () => {
      await using t = await openTestRegistry();
      const object = { metadata: { ...META, finalizers: ['mine'] }, spec: { policyName: 'p' } };
      const found = await faultsOf(t, place, object);
      assert.deepEqual(
        found.map((each) => each.replace(/^.*: /, '')),
        faults,
      );
    });
  }
});

describe('a bookmark has the fields that an empty object has upstream', () => {
  const rows: readonly (readonly [place: string, expected: KubeObject])[] = [
    ['apps/v1/deployments', { spec: { replicas: 0 } }],
    ['apps/v1/statefulsets', { spec: { replicas: 0, serviceName: '' } }],
    ['apps/v1/daemonsets', { metadata: { annotations: { 'deprecated.daemonset.template.generation': '0' } } }],
  ];
  for (const [place, expected] of rows) {
    test(place, async () => {
      await using t = await openTestRegistry();
      assert.partialDeepStrictEqual(bookmarkItem(t.resource(place) as ServedVersion, 1).object.parse(), expected);
    });
  }
});

describe('a PUT where there is nothing, and one without a version where there is something', () => {
  const rows: readonly (readonly [place: string, object: KubeObject, missing: number, there: number])[] = [
    ['v1/configmaps', {}, 404, 200],
    ['v1/endpoints', {}, 201, 200],
    ['v1/limitranges', { spec: { limits: [] } }, 201, 200],
    ['v1/services', { spec: { ports: [{ port: 80 }] } }, 201, 200],
    [`${RBAC}/v1/roles`, { rules: [] }, 201, 200],
    [`${RBAC}/v1/clusterroles`, { rules: [] }, 201, 200],
    [`${RBAC}/v1/rolebindings`, { roleRef: { apiGroup: RBAC, kind: 'Role', name: 'x' } }, 201, 200],
    [`${RBAC}/v1/clusterrolebindings`, { roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name: 'x' } }, 201, 200],
    ['node.k8s.io/v1/runtimeclasses', { handler: 'h' }, 201, 422],
    ['coordination.k8s.io/v1/leases', {}, 201, 422],
    ['storage.k8s.io/v1/storageclasses', { provisioner: 'a' }, 404, 200],
    ['storage.k8s.io/v1/csidrivers', { spec: {} }, 404, 422],
    ['storage.k8s.io/v1/csinodes', { spec: { drivers: [] } }, 404, 422],
    ['admissionregistration.k8s.io/v1/validatingwebhookconfigurations', {}, 404, 422],
    ['flowcontrol.apiserver.k8s.io/v1/flowschemas', { spec: { priorityLevelConfiguration: { name: 'p' } } }, 404, 200],
  ];
  for (const [place, object, missing, there] of rows) {
    test(place, async () => {
      await using t = await openTestRegistry();
      assert.equal(await put(t, place, object), missing);
      if (missing === 404) await t.create(place, { metadata: META, ...object });
      assert.equal(await put(t, place, object), there);
    });
  }
});

describe('a bad label is told as often as upstream looks at it', () => {
  const rows: readonly (readonly [place: string, object: KubeObject, times: number])[] = [
    ['v1/endpoints', {}, 3],
    ['v1/configmaps', {}, 4],
    ['v1/pods', { spec: POD }, 4],
    ['v1/services', { spec: { ports: [{ port: 80 }] } }, 4],
    ['batch/v1/jobs', { spec: { template: { spec: { ...POD, restartPolicy: 'Never' } } } }, 4],
    ['node.k8s.io/v1/runtimeclasses', { handler: 'h' }, 4],
    ['storage.k8s.io/v1/storageclasses', { provisioner: 'a' }, 4],
  ];
  for (const [place, object, times] of rows) {
    test(place, async () => {
      await using t = await openTestRegistry();
      await t.create(place, { metadata: META, ...object });
      const faults = await patchFaultsOf(t, place, { body: { metadata: { labels: { 'a b': 'c' } } } });
      assert.equal(faults.length, times);
    });
  }
});
