import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { KubeObject } from '@asterism/machinery';
import { openTestRegistry } from '../compose/testing/test-registry.ts';
import { storageClassKind } from './storage-class/kind.ts';
import { faultsOf, patchFaultsOf } from './testing/test-faults.ts';
import type { Draft } from '../contract/strategy.ts';

const CLAIMS = 'v1/persistentvolumeclaims';
const VOLUMES = 'v1/persistentvolumes';
const CLASSES = 'storage.k8s.io/v1/storageclasses';
const ATTACHMENTS = 'storage.k8s.io/v1/volumeattachments';
const CLAIM = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
const VOLUME = { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'] };

const REFUSED: readonly (readonly [name: string, place: string, object: KubeObject, ...faults: string[]])[] = [
  [
    'an empty claim',
    CLAIMS,
    { spec: {} },
    'spec.accessModes: Required value: at least 1 access mode is required',
    'spec.resources[storage]: Required value',
  ],
  [
    'a claim of nothing',
    CLAIMS,
    { spec: { ...CLAIM, resources: { requests: { storage: '0' } } } },
    'spec.resources[storage]: Invalid value: "0": must be greater than zero',
  ],
  ['a volume of no type', VOLUMES, { spec: VOLUME }, 'spec: Required value: must specify a volume type'],
  [
    'a volume of two types',
    VOLUMES,
    { spec: { ...VOLUME, hostPath: { path: '/a' }, nfs: { server: 'a', path: '/b' } } },
    'spec.nfs: Forbidden: may not specify more than 1 volume type',
  ],
  [
    'a capacity of other things',
    VOLUMES,
    { spec: { ...VOLUME, capacity: { cpu: '1' }, hostPath: { path: '/a' } } },
    'spec.capacity: Unsupported value: {"cpu":"1"}: supported values: "storage"',
  ],
  [
    'a local volume anywhere',
    VOLUMES,
    { spec: { ...VOLUME, local: { path: '/a/../b' } } },
    'spec.local.path: Invalid value: "/a/../b": must not contain \'..\'',
    'spec.nodeAffinity: Required value: Local volume requires node affinity',
  ],
  [
    'a volume of a driver without a handle',
    VOLUMES,
    { spec: { ...VOLUME, csi: { driver: 'a.b', nodeExpandSecretRef: {} } } },
    'spec.csi.volumeHandle: Required value',
    'spec.csi.nodeExpandSecretRef.name: Required value',
    'spec.csi.nodeExpandSecretRef.namespace: Required value',
  ],
  [
    'the recycling of a whole disk',
    VOLUMES,
    { spec: { ...VOLUME, hostPath: { path: '//' }, persistentVolumeReclaimPolicy: 'Recycle' } },
    "spec.persistentVolumeReclaimPolicy: Forbidden: may not be 'recycle' for a hostPath mount of '/'",
  ],
  [
    'a class without a provisioner',
    CLASSES,
    { reclaimPolicy: 'Recycle', parameters: { '': 'x' } },
    'provisioner: Required value',
    'parameters: Invalid value: "": field can not be empty.',
    'reclaimPolicy: Unsupported value: "Recycle": supported values: "Delete", "Retain"',
  ],
  [
    'topologies that say nothing',
    CLASSES,
    {
      provisioner: 'a.b/c',
      allowedTopologies: [{ matchLabelExpressions: [{ key: 'a' }, { key: 'a', values: ['x', 'x'] }] }],
    },
    'allowedTopologies[0].matchLabelExpressions[0].values: Required value',
    'allowedTopologies[0].matchLabelExpressions[1].values[1]: Duplicate value: "x"',
    'allowedTopologies[0].matchLabelExpressions[1].key: Duplicate value: "a"',
  ],
  [
    'attributes of nobody',
    'storage.k8s.io/v1/volumeattributesclasses',
    {},
    'driverName: Required value',
    'parameters: Required value: must contain at least one key/value pair',
  ],
  [
    'an attachment of nothing to nobody',
    ATTACHMENTS,
    { spec: { attacher: 'a.b', nodeName: 'n', source: {} } },
    'spec.source: Required value: must specify exactly one of inlineVolumeSpec and persistentVolumeName',
  ],
  [
    'an inline volume with what only bound ones have',
    ATTACHMENTS,
    { spec: { attacher: 'a.b', nodeName: 'n', source: { inlineVolumeSpec: { ...VOLUME, hostPath: { path: '/a' } } } } },
    'spec.source.inlineVolumeSpec.capacity: Forbidden: may not be specified in the context of inline volumes',
    'spec.source.inlineVolumeSpec.csi: Required value: has to be specified in the context of inline volumes',
  ],
  [
    'drivers of a node twice',
    'storage.k8s.io/v1/csinodes',
    {
      spec: {
        drivers: [
          { name: 'a.b', nodeID: 'n' },
          { name: 'a.b', nodeID: '', topologyKeys: ['k', 'k'] },
        ],
      },
    },
    'spec.drivers[1].nodeID: Required value',
    'spec.drivers[1].name: Duplicate value: "a.b"',
    'spec.drivers[1]: Duplicate value: "k"',
  ],
  [
    'tokens in secrets where there are none',
    'storage.k8s.io/v1/csidrivers',
    { spec: { serviceAccountTokenInSecrets: false } },
    'spec.serviceAccountTokenInSecrets: Invalid value: false: serviceAccountTokenInSecrets is set but no tokenRequests are specified',
  ],
  [
    'a topology twice, and such as are none',
    CLASSES,
    {
      provisioner: 'a.b/c',
      allowedTopologies: [
        { matchLabelExpressions: [{ key: 'k', values: ['a', 'b'] }] },
        { matchLabelExpressions: [{ key: 'k', values: ['b', 'a'] }] },
        {},
      ],
    },
    'allowedTopologies[1].matchLabelExpressions: Duplicate value: ""',
    ...Array.from({ length: 3 }, () => 'allowedTopologies[2].matchLabelExpressions: Duplicate value: ""'),
  ],
  [
    'a capacity below nothing of no class',
    'storage.k8s.io/v1/csistoragecapacities',
    { storageClassName: '', capacity: '-1', nodeTopology: { matchExpressions: [{ key: 'k', operator: 'In' }] } },
    "nodeTopology.matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'",
    "storageClassName: Invalid value: \"\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
    'capacity: Invalid value: "-1": must be greater than or equal to 0',
  ],
  [
    'tokens for a moment',
    'storage.k8s.io/v1/csidrivers',
    { spec: { tokenRequests: [{ audience: 'a', expirationSeconds: 5 }, { audience: 'a' }] } },
    'spec.tokenRequests[0].expirationSeconds: Invalid value: 5: may not specify a duration less than 10 minutes',
    'spec.tokenRequests[1].audience: Duplicate value: "a"',
  ],
];

describe('kinds of storage refuse', () => {
  for (const [name, place, object, ...faults] of REFUSED) {
    test(name, async () => {
      await using t = await openTestRegistry();
      assert.deepEqual(await faultsOf(t, place, object), faults);
    });
  }
});

test('claims, volumes and classes are held back until nobody uses them', async () => {
  await using t = await openTestRegistry();
  const finalizers = async (place: string, object: KubeObject) =>
    (await t.create(place, { metadata: { name: 'x' }, ...object })).metadata?.finalizers;
  assert.deepEqual(await finalizers(CLAIMS, { spec: CLAIM }), ['kubernetes.io/pvc-protection']);
  assert.deepEqual(await finalizers(VOLUMES, { spec: { ...VOLUME, hostPath: { path: '/a' } } }), [
    'kubernetes.io/pv-protection',
  ]);
  const attributes = { driverName: 'a.b', parameters: { a: 'b' } };
  assert.deepEqual(await finalizers('storage.k8s.io/v1/volumeattributesclasses', attributes), [
    'kubernetes.io/vac-protection',
  ]);
});

test('a claim tells by a diff what of it cannot change', async () => {
  await using t = await openTestRegistry();
  await t.create(CLAIMS, { metadata: { name: 'x' }, spec: CLAIM });
  assert.deepEqual(
    await patchFaultsOf(t, CLAIMS, { body: { spec: { resources: { requests: { storage: '1Mi' } } } } }),
    [
      'spec: Forbidden: spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims\n@@ -6,7 +6,7 @@\n  "Resources": {\n   "Limits": null,\n   "Requests": {\n-   "storage": "1Gi"\n+   "storage": "1Mi"\n   }\n  },\n  "VolumeName": "",\n',
    ],
  );
  assert.deepEqual(await patchFaultsOf(t, CLAIMS, { body: { spec: { volumeName: 'pv', storageClassName: 'a' } } }), []);
});

test('a source of a claim that no old server knows is dropped, and a known one told twice', async () => {
  await using t = await openTestRegistry();
  const sourcesOf = async (name: string, more: object) => {
    const { spec } = await t.create(CLAIMS, { metadata: { name }, spec: { ...CLAIM, ...more } });
    const { dataSource, dataSourceRef } = spec as { dataSource?: object; dataSourceRef?: object };
    return [dataSource, dataSourceRef];
  };
  assert.deepEqual(await sourcesOf('a', { dataSource: { apiGroup: 'a.b', kind: 'X', name: 'x' } }), [
    undefined,
    undefined,
  ]);
  const claim = { apiGroup: null, kind: 'PersistentVolumeClaim', name: 'x' };
  assert.deepEqual(await sourcesOf('b', { dataSource: claim }), [claim, claim]);
  const other = { apiGroup: 'a.b', kind: 'X', name: 'x' };
  assert.deepEqual(await sourcesOf('c', { dataSourceRef: other }), [other, other]);
});

test('what a class says stays', async () => {
  await using t = await openTestRegistry();
  await t.create(CLASSES, { metadata: { name: 'x' }, provisioner: 'a.b/c', parameters: { a: '1' } });
  assert.deepEqual(await patchFaultsOf(t, CLASSES, { body: { parameters: { a: '2' }, volumeBindingMode: 'X' } }), [
    'volumeBindingMode: Unsupported value: "X": supported values: "Immediate", "WaitForFirstConsumer"',
    'parameters: Forbidden: updates to parameters are forbidden.',
    'volumeBindingMode: Invalid value: "X": field is immutable',
  ]);
});

test('a driver of a node may take more than before, and nothing else', async () => {
  await using t = await openTestRegistry();
  const place = 'storage.k8s.io/v1/csinodes';
  await t.create(place, { metadata: { name: 'x' }, spec: { drivers: [{ name: 'a.b', nodeID: 'n' }] } });
  const change = (driver: object) =>
    patchFaultsOf(t, place, { body: { spec: { drivers: [{ name: 'a.b', ...driver }] } } });
  assert.deepEqual(await change({ nodeID: 'n', allocatable: { count: 5 } }), []);
  assert.deepEqual(await change({ nodeID: 'm', allocatable: { count: 6 } }), [
    'spec.drivers: Invalid value: {"Name":"a.b","NodeID":"m","TopologyKeys":null,"Allocatable":null}: field is immutable',
  ]);
});

test('the changes of a driver are counted from the first on', async () => {
  await using t = await openTestRegistry();
  const place = 'storage.k8s.io/v1/csidrivers';
  const generation = async (body: object) => {
    const context = t.context();
    await t.registry.patch(t.resource(place), { name: 'x' }, { type: 'merge', body }, context);
    return (await t.get(place, 'x')).metadata?.generation;
  };
  const made = await t.create(place, { metadata: { name: 'x' }, spec: {} });
  assert.equal(made.metadata?.generation, undefined);
  assert.equal(await generation({ metadata: { labels: { a: 'b' } } }), undefined);
  assert.equal(await generation({ spec: { requiresRepublish: true } }), 1);
  assert.equal(await generation({ spec: { requiresRepublish: false } }), 2);
});

test('errors of an attachment are short, and their codes no less than zero', async () => {
  await using t = await openTestRegistry();
  const spec = { attacher: 'a.b', nodeName: 'n', source: { persistentVolumeName: 'v' } };
  await t.create(ATTACHMENTS, { metadata: { name: 'x' }, spec });
  const status = { attached: false, attachError: { message: 'm'.repeat(1025), errorCode: -1 } };
  assert.deepEqual(await patchFaultsOf(t, ATTACHMENTS, { body: { status }, subresource: 'status' }), [
    'status.attachError.message: Too long: may not be more than 262144 bytes',
    'status.attachError.errorCode: Invalid value: -1: must be between 0 and 2147483647, inclusive',
  ]);
});

test('of 20,000 topologies that ask for nothing a class names no more than an answer tells', () => {
  const allowedTopologies = Array.from({ length: 20_000 }, () => ({}));
  const faults =
    storageClassKind.strategy.validateCreate?.({ metadata: {}, provisioner: 'a.b/c', allowedTopologies } as Draft) ??
    [];
  assert.ok(faults.length < 2_000, `${faults.length} faults`);
});
