import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { KubeObject } from '@asterism/machinery';
import type { Fields } from '../fields/draft-fields.ts';
import { imageTag } from '../pod-spec/image-tag.ts';
import { unifiedDiff } from '../validation/unified-diff.ts';
import { podKind } from './kind.ts';
import type { Draft } from '../../contract/strategy.ts';

const APP = { name: 'app', image: 'nginx:1.27' };

function podOf(spec: Fields, metadata: Fields = {}): Draft {
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p', ...metadata }, spec: structuredClone(spec) };
  podKind.strategy.applyDefaults?.(pod);
  return pod;
}

function faultsOfNew(spec: Fields, metadata?: Fields): string[] {
  const found = podKind.strategy.validateCreate?.(podOf({ containers: [APP], ...spec }, metadata)) ?? [];
  return found.map(({ field, message }) => `${field}: ${message}`);
}

function faultsOfUpdate(now: Draft, old: Draft, subresource?: string): string[] {
  const found = podKind.strategy.validateUpdate?.(now, old, subresource) ?? [];
  return found.map(({ field, message }) => `${field}: ${message.split('\n')[0]}`);
}

function faultsOfStatus(status: Fields, old: KubeObject): string[] {
  const found = podKind.strategy.validateStatus?.({ ...old, status }, old) ?? [];
  return found.map(({ field, message }) => `${field}: ${message}`);
}

const INVALID: readonly (readonly [string, Fields, readonly string[]])[] = [
  ['no containers', { containers: [] }, ['spec.containers: Required value']],
  ['a container without image', { containers: [{ name: 'app' }] }, ['spec.containers[0].image: Required value']],
  ['two containers of one name', { containers: [APP, APP] }, ['spec.containers[1].name: Duplicate value: "app"']],
  [
    'a restart policy that nobody knows',
    { restartPolicy: 'Sometimes' },
    ['spec.restartPolicy: Unsupported value: "Sometimes": supported values: "Always", "OnFailure", "Never"'],
  ],
  [
    'a mount of no volume',
    { containers: [{ ...APP, volumeMounts: [{ name: 'v', mountPath: '/v' }] }] },
    ['spec.containers[0].volumeMounts[0].name: Not found: "v"'],
  ],
  [
    'more than the limit',
    { containers: [{ ...APP, resources: { requests: { cpu: '2' }, limits: { cpu: '1' } } }] },
    ['spec.containers[0].resources.requests: Invalid value: "2": must be less than or equal to cpu limit of 1'],
  ],
  [
    'an ephemeral container from the start',
    { ephemeralContainers: [{ name: 'debug', image: 'busybox' }] },
    ['spec.ephemeralContainers: Forbidden: cannot be set on create'],
  ],
  [
    'a node for a gated pod',
    { nodeName: 'n', schedulingGates: [{ name: 'example.com/gate' }] },
    ['spec.nodeName: Forbidden: cannot be set until all schedulingGates have been cleared'],
  ],
];

describe('a new pod', () => {
  for (const [name, spec, expected] of INVALID) {
    test(`with ${name} is refused`, () => assert.deepEqual(faultsOfNew(spec), expected));
  }
  test('of nothing but an image is fine', () => assert.deepEqual(faultsOfNew({}), []));
});

describe('a pod that exists', () => {
  const old = podOf({ containers: [APP], tolerations: [{ key: 'a', operator: 'Exists' }] });
  const rows: readonly (readonly [string, Fields, readonly string[]])[] = [
    ['another image', { containers: [{ ...APP, image: 'nginx:1.28' }] }, []],
    ['a deadline', { activeDeadlineSeconds: 30 }, []],
    [
      'a further container',
      { containers: [APP, { ...APP, name: 'b' }] },
      ['spec.containers: Forbidden: pod updates may not add or remove containers'],
    ],
    [
      'a further toleration',
      {
        tolerations: [
          { key: 'a', operator: 'Exists' },
          { key: 'b', operator: 'Exists' },
        ],
      },
      [],
    ],
    [
      'no toleration',
      { tolerations: [] },
      ['spec.tolerations: Forbidden: existing toleration can not be modified except its tolerationSeconds'],
    ],
    [
      'a gate',
      { schedulingGates: [{ name: 'g' }] },
      ["spec.schedulingGates[0].name: Forbidden: only deletion is allowed, but found new scheduling gate 'g'"],
    ],
  ];
  for (const [name, change, expected] of rows) {
    test(`with ${name}`, () => {
      const now = podOf({ containers: [APP], tolerations: [{ key: 'a', operator: 'Exists' }], ...change });
      assert.deepEqual(faultsOfUpdate(now, old), expected);
    });
  }

  test('shows what may not change', () => {
    const now = podOf({ containers: [APP], tolerations: [{ key: 'a', operator: 'Exists' }], hostname: 'h' });
    const [fault] = podKind.strategy.validateUpdate?.(now, old) ?? [];
    assert.match(fault?.message ?? '', /\n- "Hostname": "",\n\+ "Hostname": "h",\n/);
  });

  test('cannot change an ephemeral container', () => {
    const [before, after] = ['a', 'b'].map((image) =>
      podOf({ containers: [APP], ephemeralContainers: [{ name: 'debug', image }] }),
    ) as [Draft, Draft];
    assert.deepEqual(faultsOfUpdate(after, before, 'ephemeralcontainers'), [
      'spec.ephemeralContainers: Forbidden: existing ephemeral containers "debug" may not be changed',
    ]);
  });

  test('finds each of 20,000 ephemeral containers in less than a second', () => {
    const containers = Array.from({ length: 20_000 }, (_, index) => ({ name: `debug-${index}`, image: 'a' }));
    const [before, after] = [containers, containers.toReversed()].map((ephemeralContainers) =>
      podOf({ containers: [APP], ephemeralContainers }),
    ) as [Draft, Draft];
    const start = process.threadCpuUsage();
    const faults = faultsOfUpdate(after, before, 'ephemeralcontainers');
    const { user } = process.threadCpuUsage(start);
    assert.ok(!faults.some((fault) => fault.includes('existing ephemeral containers')));
    assert.ok(user < 1_000_000, `${user} microseconds`);
  });

  test('cannot lose a limit by a resize', () => {
    const [before, after] = [{ cpu: '1', memory: '1Gi' }, { cpu: '1' }].map((limits) => {
      const resources = { requests: { cpu: '500m', memory: '1Gi' }, limits };
      return podOf({ containers: [{ ...APP, resources }] });
    }) as [Draft, Draft];
    assert.deepEqual(faultsOfUpdate(after, before, 'resize'), [
      'spec.containers[0].resources.limits: Forbidden: resource limits cannot be removed',
    ]);
  });

  test('keeps its quality of service', () => {
    assert.deepEqual(faultsOfStatus({ qosClass: 'Burstable' }, { ...old, status: { qosClass: 'BestEffort' } }), [
      'status.qosClass: Invalid value: "Burstable": field is immutable',
    ]);
  });

  test('is nominated for a node as long as it is on none', () => {
    assert.deepEqual(faultsOfStatus({ nominatedNodeName: 'n' }, podOf({ containers: [APP] })), []);
    assert.deepEqual(faultsOfStatus({ nominatedNodeName: 'n' }, podOf({ containers: [APP], nodeName: 'm' })), [
      'status.nominatedNodeName: Forbidden: may not be set on pods that are already bound to a node',
    ]);
  });
});

const WARNED: readonly (readonly [string, Fields, readonly string[]])[] = [
  ['nothing unusual', {}, []],
  [
    'an old label',
    { nodeSelector: { 'beta.kubernetes.io/os': 'linux' } },
    ['spec.nodeSelector[beta.kubernetes.io/os]: deprecated since v1.14; use "kubernetes.io/os" instead'],
  ],
  [
    'a variable twice',
    {
      containers: [
        {
          ...APP,
          env: [
            { name: 'A', value: '1' },
            { name: 'A', value: '2' },
          ],
        },
      ],
    },
    ['spec.containers[0].env[1]: hides previous definition of "A", which may be dropped when using apply'],
  ],
  [
    'a variable that extends itself',
    {
      containers: [
        {
          ...APP,
          env: [
            { name: 'A', value: '1' },
            { name: 'A', value: '$(A):2' },
          ],
        },
      ],
    },
    [],
  ],
  [
    'part of a byte',
    { containers: [{ ...APP, resources: { requests: { memory: '100m' } } }] },
    ['spec.containers[0].resources.requests[memory]: fractional byte value "100m" is invalid, must be an integer'],
  ],
];

describe('warnings of a pod', () => {
  for (const [name, spec, expected] of WARNED) {
    test(name, () => {
      assert.deepEqual(podKind.strategy.warnings?.(podOf({ containers: [APP], ...spec }), undefined), expected);
    });
  }
});

describe('the tag of an image', () => {
  const rows = [
    ['nginx', 'latest'],
    ['nginx:1.27', '1.27'],
    ['localhost:5000/nginx', 'latest'],
    [`nginx@sha256:${'a'.repeat(64)}`, ''],
    [`nginx:latest@sha256:${'a'.repeat(64)}`, 'latest'],
    ['NGINX:1', ''],
    ['', ''],
  ] as const;
  for (const [image, expected] of rows) test(image || 'none', () => assert.equal(imageTag(image), expected));
});

test('a difference is told with three lines around it', () => {
  const diff = unifiedDiff({ a: 1, b: 2, c: 3, d: 4, e: 5 }, { a: 1, b: 2, c: 3, d: 4, e: 6 });
  assert.equal(diff, '@@ -3,5 +3,5 @@\n  "b": 2,\n  "c": 3,\n  "d": 4,\n- "e": 5\n+ "e": 6\n }\n');
});

test('changes among thousands of values are not looked for', () => {
  const [before, after] = [20_000, 20_001].map((count) => Array.from({ length: count }, (_, index) => index % 300));
  assert.equal(unifiedDiff(before, [...(before ?? [])]), '');
  assert.equal(unifiedDiff(before, after), 'more than 3000 values are too many to show the changes\n');
});
