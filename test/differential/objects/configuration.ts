import type { FieldChange, GeneratedKind } from './generated-kind.ts';

const LABELLED: FieldChange = ['metadata.labels', { changed: 'yes' }];
const base64 = (text: string): string => Buffer.from(text).toString('base64');

/** Kinds that hold settings, limits and records of a namespace. */
export const CONFIGURATION: readonly GeneratedKind[] = [
  {
    kind: 'ConfigMap',
    apiVersion: 'v1',
    resource: 'configmaps',
    namespaced: true,
    make: (choices) => ({
      ...choices.maybe(() => ({ data: { a: choices.pick(['1', '', 'ünï☃', 'x\ny']), 'b.txt': 'text' } }), 0.8),
      ...choices.maybe(() => ({ binaryData: { bin: base64('bytes') } }), 0.4),
    }),
    changes: [LABELLED, ['data', { other: 'value' }], ['immutable', true]],
    invalid: {
      'key with a slash': ['data', { 'a/b': 'x' }],
      'empty key': ['data', { '': 'x' }],
      'key of dots': ['data', { '..': 'x' }],
      'key in both': ['data', { bin: 'x', a: 'y' }],
      'not base64': ['binaryData', { bin: '***' }],
      'number as value': ['data', { a: 1 }],
    },
  },
  {
    kind: 'Secret',
    apiVersion: 'v1',
    resource: 'secrets',
    namespaced: true,
    make: (choices) => ({
      data: { a: base64('x') },
      ...choices.maybe(() => ({ stringData: { a: 'y', b: 'z' } })),
      ...choices.maybe(() => ({ type: choices.pick(['Opaque', 'example.com/own']) })),
    }),
    changes: [LABELLED, ['stringData', { c: 'd' }]],
    invalid: {
      'key with a slash': ['data', { 'a/b': base64('x') }],
      'tls without key': ['type', 'kubernetes.io/tls'],
      'basic auth without both': ['type', 'kubernetes.io/basic-auth'],
      'ssh without key': ['type', 'kubernetes.io/ssh-auth'],
      'docker config': ['type', 'kubernetes.io/dockerconfigjson'],
      'token without account': ['type', 'kubernetes.io/service-account-token'],
      'not base64': ['data', { a: '***' }],
    },
    immutable: { type: ['type', 'example.com/another'] },
  },
  {
    kind: 'ServiceAccount',
    apiVersion: 'v1',
    resource: 'serviceaccounts',
    namespaced: true,
    make: (choices) => ({
      ...choices.maybe(() => ({ secrets: [{ name: 'token' }] })),
      ...choices.maybe(() => ({ imagePullSecrets: [{ name: 'pull' }, { name: 'other' }] })),
      ...choices.maybe(() => ({ automountServiceAccountToken: false })),
    }),
    changes: [LABELLED, ['imagePullSecrets', [{ name: 'new' }]]],
    invalid: { 'wrong type': ['secrets', 'token'], 'wrong item': ['imagePullSecrets', ['pull']] },
  },
  {
    kind: 'LimitRange',
    apiVersion: 'v1',
    resource: 'limitranges',
    namespaced: true,
    make: (choices) => ({
      spec: {
        limits: [
          { type: 'Container', max: { cpu: '2', memory: '1Gi' }, ...choices.maybe(() => ({ default: { cpu: '1' } })) },
          ...choices.some([
            { type: 'Pod', max: { cpu: '4' } },
            { type: 'PersistentVolumeClaim', min: { storage: '1Gi' } },
          ]),
        ],
      },
    }),
    changes: [LABELLED, ['spec.limits', [{ type: 'Pod', max: { memory: '2Gi' } }]]],
    invalid: {
      'min over max': ['spec.limits', [{ type: 'Container', min: { cpu: '2' }, max: { cpu: '1' } }]],
      'default over max': ['spec.limits', [{ type: 'Container', default: { cpu: '2' }, max: { cpu: '1' } }]],
      'default for pods': ['spec.limits', [{ type: 'Pod', default: { cpu: '2' } }]],
      'type twice': [
        'spec.limits',
        [
          { type: 'Pod', max: { cpu: '2' } },
          { type: 'Pod', max: { cpu: '2' } },
        ],
      ],
      'ratio below one': ['spec.limits', [{ type: 'Container', maxLimitRequestRatio: { cpu: '0.5' } }]],
      'claim without bounds': ['spec.limits', [{ type: 'PersistentVolumeClaim' }]],
    },
  },
  {
    kind: 'ResourceQuota',
    apiVersion: 'v1',
    resource: 'resourcequotas',
    namespaced: true,
    make: (choices) => ({
      spec: {
        hard: {
          pods: String(choices.int(1, 20)),
          'requests.cpu': choices.pick(['2', '500m']),
          ...choices.maybe(() => ({ 'count/secrets': '5' })),
        },
        ...choices.maybe(() => ({ scopes: ['NotTerminating'] })),
      },
    }),
    changes: [LABELLED],
    invalid: {
      negative: ['spec.hard', { pods: '-1' }],
      'fraction of pods': ['spec.hard', { pods: '1.5' }],
      'resource name': ['spec.hard', { 'no such': '1' }],
      scope: ['spec.scopes', ['Sometimes']],
      'both scopes': ['spec.scopes', ['Terminating', 'NotTerminating']],
      quantity: ['spec.hard', { pods: 'many' }],
    },
    immutable: { scopes: ['spec.scopes', ['BestEffort']] },
    status: { status: { hard: { pods: '4' }, used: { pods: '1' } } },
  },
  {
    kind: 'Lease',
    apiVersion: 'coordination.k8s.io/v1',
    resource: 'leases',
    namespaced: true,
    make: (choices) => ({
      spec: {
        ...choices.maybe(() => ({ holderIdentity: 'me' })),
        ...choices.maybe(() => ({ leaseDurationSeconds: 15 })),
        ...choices.maybe(() => ({
          renewTime: '2026-01-02T03:04:05.678901Z',
          acquireTime: '2026-01-01T00:00:00.000000Z',
        })),
        ...choices.maybe(() => ({ leaseTransitions: choices.int(0, 3) })),
      },
    }),
    changes: [LABELLED, ['spec.holderIdentity', 'you']],
    invalid: {
      'zero duration': ['spec.leaseDurationSeconds', 0],
      'negative transitions': ['spec.leaseTransitions', -1],
      time: ['spec.renewTime', 'soon'],
    },
  },
  {
    kind: 'Role',
    apiVersion: 'rbac.authorization.k8s.io/v1',
    resource: 'roles',
    namespaced: true,
    make: (choices) => ({
      rules: choices.times(1, 2, () => ({
        apiGroups: [choices.pick(['', 'apps'])],
        resources: choices.pick([['pods'], ['*'], ['deployments', 'deployments/scale']]),
        verbs: ['get', ...choices.some(['list', 'watch'])],
        ...choices.maybe(() => ({ resourceNames: ['one'] })),
      })),
    }),
    changes: [LABELLED, ['rules', []]],
    invalid: {
      'no verbs': ['rules.0.verbs', []],
      'no groups': ['rules.0.apiGroups', []],
      'no resources': ['rules.0.resources', []],
      urls: ['rules.0.nonResourceURLs', ['/x']],
    },
  },
  {
    kind: 'RoleBinding',
    apiVersion: 'rbac.authorization.k8s.io/v1',
    resource: 'rolebindings',
    namespaced: true,
    make: (choices) => ({
      roleRef: {
        kind: choices.pick(['ClusterRole', 'Role']),
        name: 'view',
        ...choices.maybe(() => ({ apiGroup: 'rbac.authorization.k8s.io' })),
      },
      subjects: [
        { kind: 'User', name: 'alice', ...choices.maybe(() => ({ apiGroup: 'rbac.authorization.k8s.io' })) },
        { kind: 'ServiceAccount', name: 'default', namespace: 'default' },
        { kind: 'Group', name: 'devs' },
      ],
    }),
    changes: [LABELLED, ['subjects', [{ kind: 'User', name: 'bob' }]]],
    invalid: {
      'role kind': ['roleRef.kind', 'Pod'],
      'no role name': ['roleRef.name', ''],
      'role group': ['roleRef.apiGroup', 'apps'],
      'subject kind': ['subjects', [{ kind: 'Robot', name: 'r' }]],
      'account without namespace': ['subjects', [{ kind: 'ServiceAccount', name: 'r' }]],
      'subject without name': ['subjects', [{ kind: 'User', name: '' }]],
      'user of a group': ['subjects', [{ kind: 'User', name: 'a', apiGroup: 'x' }]],
    },
    immutable: { roleRef: ['roleRef.name', 'edit'] },
  },
  {
    kind: 'PersistentVolumeClaim',
    apiVersion: 'v1',
    resource: 'persistentvolumeclaims',
    namespaced: true,
    make: (choices) => ({
      spec: {
        accessModes: choices.pick([['ReadWriteOnce'], ['ReadOnlyMany', 'ReadWriteMany']]),
        resources: { requests: { storage: choices.pick(['1Gi', '1500M', '5Ti']) } },
        ...choices.maybe(() => ({ storageClassName: choices.pick(['fast', '']) })),
        ...choices.maybe(() => ({ volumeMode: 'Block' })),
        ...choices.maybe(() => ({ selector: { matchLabels: { a: 'b' } } })),
      },
    }),
    changes: [LABELLED],
    invalid: {
      'no access modes': ['spec.accessModes', []],
      'access mode': ['spec.accessModes', ['Sometimes']],
      'no storage': ['spec.resources', {}],
      'zero storage': ['spec.resources', { requests: { storage: '0' } }],
      'negative storage': ['spec.resources', { requests: { storage: '-1Gi' } }],
      'volume mode': ['spec.volumeMode', 'Tape'],
      'class name': ['spec.storageClassName', 'Not This'],
    },
    immutable: { accessModes: ['spec.accessModes', ['ReadWriteOnce', 'ReadWriteMany']] },
    status: { status: { phase: 'Bound', accessModes: ['ReadWriteOnce'], capacity: { storage: '1Gi' } } },
  },
  {
    kind: 'Event',
    apiVersion: 'v1',
    resource: 'events',
    namespaced: true,
    make: (choices) => ({
      involvedObject: { kind: 'ConfigMap', apiVersion: 'v1', name: 'x' },
      reason: choices.pick(['Made', 'Lost']),
      message: 'it happened',
      type: choices.pick(['Normal', 'Warning']),
      ...choices.maybe(() => ({
        count: 2,
        firstTimestamp: '2026-01-01T00:00:00Z',
        lastTimestamp: '2026-01-01T00:01:00Z',
      })),
      source: { component: 'tester' },
    }),
    changes: [
      ['message', 'it happened again'],
      ['count', 3],
    ],
    invalid: { 'count is text': ['count', 'two'], time: ['firstTimestamp', 'once'] },
  },
];
