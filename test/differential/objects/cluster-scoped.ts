import type { FieldChange, Fields, GeneratedKind } from './generated-kind.ts';

const LABELLED: FieldChange = ['metadata.labels', { changed: 'yes' }];
const CA_BUNDLE = Buffer.from('ca').toString('base64');

const webhooks = (name: string, review: readonly string[]): Fields => ({
  webhooks: [
    {
      name,
      clientConfig: { service: { namespace: 'default', name: 'hook' }, caBundle: CA_BUNDLE },
      rules: [{ apiGroups: ['example.com'], apiVersions: ['v1'], operations: ['CREATE'], resources: ['nothings'] }],
      sideEffects: 'None',
      admissionReviewVersions: review,
    },
  ],
});

const INVALID_WEBHOOKS: Record<string, FieldChange> = {
  name: ['webhooks.0.name', 'single'],
  'side effects': ['webhooks.0.sideEffects', 'Some'],
  'no side effects': ['webhooks.0.sideEffects', undefined],
  'no review versions': ['webhooks.0.admissionReviewVersions', []],
  'both targets': ['webhooks.0.clientConfig', { url: 'https://x.example/y', service: { namespace: 'a', name: 'b' } }],
  'plain http': ['webhooks.0.clientConfig', { url: 'http://x.example/y' }],
  'no target': ['webhooks.0.clientConfig', {}],
  timeout: ['webhooks.0.timeoutSeconds', 60],
  'failure policy': ['webhooks.0.failurePolicy', 'Shrug'],
  operation: ['webhooks.0.rules.0.operations', ['LOOK']],
};

/** Kinds without a namespace. */
export const CLUSTER_SCOPED: readonly GeneratedKind[] = [
  {
    kind: 'Namespace',
    apiVersion: 'v1',
    resource: 'namespaces',
    namespaced: false,
    make: (choices) => ({ ...choices.maybe(() => ({ spec: {} })) }),
    changes: [['metadata.annotations', { note: 'x' }]],
    invalid: {
      labels: ['metadata.labels', { 'not a key!': 'x' }],
      'label value': ['metadata.labels', { a: 'not a value!' }],
    },
  },
  {
    kind: 'Node',
    apiVersion: 'v1',
    resource: 'nodes',
    namespaced: false,
    make: (choices) => ({
      spec: {
        ...choices.maybe(() => ({ podCIDR: '192.0.2.0/24' })),
        ...choices.maybe(() => ({ taints: [{ key: 'a', effect: 'NoSchedule' }] })),
        ...choices.maybe(() => ({ unschedulable: true })),
      },
    }),
    changes: [LABELLED, ['spec.unschedulable', true]],
    invalid: {
      'taint effect': ['spec.taints', [{ key: 'a', effect: 'Maybe' }]],
      'taint twice': [
        'spec.taints',
        [
          { key: 'a', effect: 'NoSchedule' },
          { key: 'a', effect: 'NoSchedule' },
        ],
      ],
      'taint key': ['spec.taints', [{ key: 'not a key!', effect: 'NoSchedule' }]],
      'pod cidr': ['spec.podCIDR', 'x'],
    },
    status: { status: { capacity: { cpu: '4', memory: '8Gi' }, conditions: [{ type: 'Ready', status: 'True' }] } },
  },
  {
    kind: 'PersistentVolume',
    apiVersion: 'v1',
    resource: 'persistentvolumes',
    namespaced: false,
    make: (choices) => ({
      spec: {
        capacity: { storage: choices.pick(['1Gi', '1500M']) },
        accessModes: ['ReadWriteOnce'],
        ...choices.pick<Fields>([
          { hostPath: { path: '/x' } },
          { nfs: { server: 's', path: '/x' } },
          { csi: { driver: 'csi.example', volumeHandle: 'v' } },
        ]),
        ...choices.maybe(() => ({ persistentVolumeReclaimPolicy: 'Delete' })),
        ...choices.maybe(() => ({ storageClassName: 'fast' })),
      },
    }),
    // Both are changes of every volume: 1.20 stores a new one without its phase, and so writes it anew when nothing changes.
    changes: [LABELLED, ['spec.storageClassName', 'slow']],
    invalid: {
      'no capacity': ['spec.capacity', {}],
      'no access modes': ['spec.accessModes', []],
      'two sources': [
        'spec',
        {
          capacity: { storage: '1Gi' },
          accessModes: ['ReadWriteOnce'],
          hostPath: { path: '/x' },
          nfs: { server: 's', path: '/x' },
        },
      ],
      'no source': ['spec', { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'] }],
      'reclaim policy': ['spec.persistentVolumeReclaimPolicy', 'Burn'],
      'path up': [
        'spec',
        { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/x/../y' } },
      ],
    },
    status: { status: { phase: 'Available' } },
  },
  {
    kind: 'StorageClass',
    apiVersion: 'storage.k8s.io/v1',
    resource: 'storageclasses',
    namespaced: false,
    make: (choices) => ({
      provisioner: 'example.com/disk',
      ...choices.maybe(() => ({ parameters: { kind: 'ssd' } })),
      ...choices.maybe(() => ({ reclaimPolicy: 'Retain' })),
      ...choices.maybe(() => ({ volumeBindingMode: 'WaitForFirstConsumer' })),
      ...choices.maybe(() => ({ allowVolumeExpansion: true })),
    }),
    changes: [LABELLED],
    invalid: {
      'no provisioner': ['provisioner', ''],
      provisioner: ['provisioner', 'Not/A/Name'],
      'binding mode': ['volumeBindingMode', 'Later'],
      'reclaim policy': ['reclaimPolicy', 'Burn'],
      'empty parameter': ['parameters', { '': 'x' }],
    },
    immutable: { provisioner: ['provisioner', 'example.com/other'], parameters: ['parameters', { other: 'x' }] },
  },
  {
    kind: 'VolumeAttachment',
    apiVersion: 'storage.k8s.io/v1',
    resource: 'volumeattachments',
    namespaced: false,
    make: () => ({ spec: { attacher: 'csi.example', nodeName: 'node-1', source: { persistentVolumeName: 'v' } } }),
    changes: [LABELLED],
    invalid: {
      'no attacher': ['spec.attacher', ''],
      'no node': ['spec.nodeName', ''],
      'no source': ['spec.source', {}],
    },
    immutable: { node: ['spec.nodeName', 'node-2'] },
    status: { status: { attached: true } },
  },
  {
    kind: 'CSIDriver',
    apiVersion: 'storage.k8s.io/v1',
    resource: 'csidrivers',
    namespaced: false,
    make: (choices) => ({
      spec: {
        ...choices.maybe(() => ({ attachRequired: false })),
        ...choices.maybe(() => ({ podInfoOnMount: true })),
        ...choices.maybe(() => ({ volumeLifecycleModes: ['Persistent', 'Ephemeral'] })),
      },
    }),
    changes: [LABELLED],
    invalid: { 'life cycle mode': ['spec.volumeLifecycleModes', ['Brief']] },
  },
  {
    kind: 'CSINode',
    apiVersion: 'storage.k8s.io/v1',
    resource: 'csinodes',
    namespaced: false,
    make: (choices) => ({
      spec: {
        drivers: choices.some([
          { name: 'csi.example', nodeID: 'n' },
          { name: 'other.example', nodeID: 'n', topologyKeys: ['zone'], allocatable: { count: 5 } },
        ]),
      },
    }),
    changes: [LABELLED],
    invalid: {
      'driver without node': ['spec.drivers', [{ name: 'a.example', nodeID: '' }]],
      'driver twice': [
        'spec.drivers',
        [
          { name: 'a.example', nodeID: 'n' },
          { name: 'a.example', nodeID: 'n' },
        ],
      ],
      'negative count': ['spec.drivers', [{ name: 'a.example', nodeID: 'n', allocatable: { count: -1 } }]],
    },
  },
  {
    kind: 'PriorityClass',
    apiVersion: 'scheduling.k8s.io/v1',
    resource: 'priorityclasses',
    namespaced: false,
    make: (choices) => ({
      value: choices.int(-10, 1000),
      ...choices.maybe(() => ({ description: 'd' })),
      ...choices.maybe(() => ({ preemptionPolicy: 'Never' })),
    }),
    changes: [LABELLED, ['description', 'other']],
    invalid: { 'too high': ['value', 2_000_000_000], 'preemption policy': ['preemptionPolicy', 'Perhaps'] },
    immutable: { value: ['value', 4242] },
  },
  {
    kind: 'RuntimeClass',
    apiVersion: 'node.k8s.io/v1',
    resource: 'runtimeclasses',
    namespaced: false,
    make: (choices) => ({
      handler: 'runc',
      ...choices.maybe(() => ({ overhead: { podFixed: { cpu: '10m' } } })),
      ...choices.maybe(() => ({
        scheduling: { nodeSelector: { a: 'b' }, tolerations: [{ key: 'x', operator: 'Exists' }] },
      })),
    }),
    changes: [LABELLED],
    invalid: {
      'no handler': ['handler', ''],
      handler: ['handler', 'Not This'],
      overhead: ['overhead', { podFixed: { cpu: '-1' } }],
    },
    immutable: { handler: ['handler', 'kata'] },
  },
  {
    kind: 'ClusterRole',
    apiVersion: 'rbac.authorization.k8s.io/v1',
    resource: 'clusterroles',
    namespaced: false,
    make: (choices) => ({
      rules: choices.pick<Fields[]>([
        [{ apiGroups: [''], resources: ['nodes'], verbs: ['*'] }],
        [{ nonResourceURLs: ['/metrics', '/healthz/*'], verbs: ['get'] }],
      ]),
    }),
    changes: [LABELLED],
    invalid: {
      'no verbs': ['rules.0.verbs', []],
      neither: ['rules', [{ verbs: ['get'] }]],
      both: ['rules', [{ verbs: ['get'], apiGroups: [''], resources: ['a'], nonResourceURLs: ['/x'] }]],
    },
  },
  {
    kind: 'ClusterRoleBinding',
    apiVersion: 'rbac.authorization.k8s.io/v1',
    resource: 'clusterrolebindings',
    namespaced: false,
    make: () => ({
      roleRef: { kind: 'ClusterRole', name: 'view', apiGroup: 'rbac.authorization.k8s.io' },
      subjects: [{ kind: 'Group', name: 'nobody' }],
    }),
    changes: [LABELLED],
    invalid: { 'role kind': ['roleRef.kind', 'Role'], 'subject kind': ['subjects', [{ kind: 'Robot', name: 'r' }]] },
    immutable: { roleRef: ['roleRef.name', 'edit'] },
  },
  {
    kind: 'ValidatingWebhookConfiguration',
    apiVersion: 'admissionregistration.k8s.io/v1',
    resource: 'validatingwebhookconfigurations',
    namespaced: false,
    make: (choices) => webhooks('check.example.com', choices.pick([['v1'], ['v1', 'v1beta1']])),
    changes: [LABELLED, ['webhooks.0.failurePolicy', 'Ignore'], ['webhooks.0.timeoutSeconds', 3]],
    invalid: INVALID_WEBHOOKS,
  },
  {
    kind: 'MutatingWebhookConfiguration',
    apiVersion: 'admissionregistration.k8s.io/v1',
    resource: 'mutatingwebhookconfigurations',
    namespaced: false,
    make: (choices) => webhooks('change.example.com', choices.pick([['v1'], ['v1', 'v1beta1']])),
    changes: [LABELLED, ['webhooks.0.reinvocationPolicy', 'IfNeeded']],
    invalid: { ...INVALID_WEBHOOKS, reinvocation: ['webhooks.0.reinvocationPolicy', 'Twice'] },
  },
];
