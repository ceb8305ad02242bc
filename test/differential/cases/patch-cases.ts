import { Choices } from '../choices.ts';
import type { DifferentialCase } from '../differential-case.ts';
import { type Fields, makeObject } from '../objects/generated-kind.ts';
import { generatedKind } from '../objects/generated-kinds.ts';
import { caseName, requestsTo } from './requests.ts';

/** Strategic merges that meet a list of their kind, by what they show; the object is a random one of the kind with these lists. */
const STRATEGIC: Readonly<Record<string, { base: Fields; patches: Readonly<Record<string, Fields>> }>> = {
  Deployment: {
    base: {
      spec: {
        selector: { matchLabels: { app: 'web' } },
        template: {
          metadata: { labels: { app: 'web' } },
          spec: {
            containers: [
              {
                name: 'a',
                image: 'x:1',
                env: [
                  { name: 'A', value: '1' },
                  { name: 'B', value: '2' },
                ],
                ports: [{ containerPort: 80 }],
                args: ['1', '2'],
              },
              { name: 'b', image: 'y:1' },
            ],
            volumes: [{ name: 'v', emptyDir: {} }],
            tolerations: [{ key: 'k', operator: 'Exists' }],
            imagePullSecrets: [{ name: 'p' }],
          },
        },
      },
    },
    patches: {
      'merge a container': { spec: { template: { spec: { containers: [{ name: 'a', image: 'x:2' }] } } } },
      'add a container': { spec: { template: { spec: { containers: [{ name: 'c', image: 'z:1' }] } } } },
      'delete a container': { spec: { template: { spec: { containers: [{ name: 'b', $patch: 'delete' }] } } } },
      'replace containers': {
        spec: { template: { spec: { containers: [{ $patch: 'replace' }, { name: 'only', image: 'o:1' }] } } },
      },
      'merge env': {
        spec: {
          template: {
            spec: {
              containers: [
                {
                  name: 'a',
                  env: [
                    { name: 'B', value: '3' },
                    { name: 'C', value: '4' },
                  ],
                },
              ],
            },
          },
        },
      },
      'env from a value to a source': {
        spec: {
          template: {
            spec: {
              containers: [
                {
                  name: 'a',
                  env: [{ name: 'A', value: null, valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }],
                },
              ],
            },
          },
        },
      },
      'atomic args': { spec: { template: { spec: { containers: [{ name: 'a', args: ['3'] }] } } } },
      'merge ports': {
        spec: {
          template: {
            spec: { containers: [{ name: 'a', ports: [{ containerPort: 81 }, { containerPort: 80, name: 'web' }] }] },
          },
        },
      },
      'order of containers': {
        spec: {
          template: {
            spec: {
              '$setElementOrder/containers': [{ name: 'b' }, { name: 'a' }],
              containers: [{ name: 'a', image: 'x:3' }],
            },
          },
        },
      },
      'atomic tolerations': { spec: { template: { spec: { tolerations: [{ key: 'other', operator: 'Exists' }] } } } },
      'retain keys of a volume': {
        spec: {
          template: {
            spec: { volumes: [{ name: 'v', $retainKeys: ['name', 'configMap'], configMap: { name: 'c' } }] },
          },
        },
      },
      'retain keys of the strategy': { spec: { strategy: { $retainKeys: ['type'], type: 'Recreate' } } },
      'replace a map': {
        spec: { template: { metadata: { labels: { $patch: 'replace', app: 'web', only: 'this' } } } },
      },
      'delete a map': { metadata: { annotations: { $patch: 'delete' } } },
      'null for a field': { spec: { template: { spec: { tolerations: null } } } },
      empty: {},
      'merge pull secrets': { spec: { template: { spec: { imagePullSecrets: [{ name: 'q' }] } } } },
      'missing merge key': { spec: { template: { spec: { containers: [{ image: 'no-name' }] } } } },
      'unknown directive': { spec: { template: { spec: { $patch: 'mangle' } } } },
    },
  },
  Service: {
    base: {
      spec: {
        ports: [
          { name: 'a', port: 80 },
          { name: 'b', port: 81 },
        ],
        selector: { app: 'web' },
      },
    },
    patches: {
      'merge ports by number': { spec: { ports: [{ port: 80, targetPort: 8080 }] } },
      'add a port': { spec: { ports: [{ name: 'c', port: 82 }] } },
      'delete a port': { spec: { ports: [{ port: 81, $patch: 'delete' }] } },
      'selector key': { spec: { selector: { tier: 'front' } } },
    },
  },
  ServiceAccount: {
    // One secret stays: where there is no list, 1.20 makes one of an item that is to be deleted.
    base: { secrets: [{ name: 'a' }, { name: 'stays' }], imagePullSecrets: [{ name: 'p' }] },
    patches: {
      'merge secrets': { secrets: [{ name: 'b' }] },
      'delete a secret': { secrets: [{ name: 'a', $patch: 'delete' }] },
    },
  },
  ConfigMap: {
    base: { metadata: { name: 'one', finalizers: ['example.com/a', 'example.com/b'] }, data: { a: '1', b: '2' } },
    patches: {
      'merge data': { data: { b: null, c: '3' } },
      'merge finalizers': { metadata: { finalizers: ['example.com/c'] } },
      'delete from a primitive list': { metadata: { '$deleteFromPrimitiveList/finalizers': ['example.com/a'] } },
      'order of a primitive list': { metadata: { '$setElementOrder/finalizers': ['example.com/b', 'example.com/a'] } },
    },
  },
};

/** Patches of every type: the listed strategic ones, each on a fresh object, and runs of random JSON and merge patches. */
export function patchCases(seed: number): DifferentialCase[] {
  return [
    ...Object.keys(STRATEGIC).map((kind) => strategicCase(kind, seed)),
    ...['ConfigMap', 'Deployment', 'Service', 'Role', 'NetworkPolicy'].flatMap((kind) => [
      jsonCase(kind, seed),
      mergeCase(kind, seed),
    ]),
    refusedCase(seed),
  ];
}

function strategicCase(kind: string, seed: number): DifferentialCase {
  const { base, patches } = STRATEGIC[kind] ?? { base: {}, patches: {} };
  const name = caseName('verbs-strategic', kind, seed);
  const choices = new Choices(seed, name);
  const of = generatedKind(kind);
  const to = requestsTo(of, name);
  const steps = choices.shuffled(Object.values(patches)).flatMap((patch, index) => {
    const metadata = { ...(base['metadata'] as Fields), name: `o${index}`, annotations: { note: 'x' } };
    return [
      to.create({ apiVersion: of.apiVersion, kind, ...base, metadata }),
      to.patch('strategic', patch, { name: `o${index}` }),
    ];
  });
  const mixed = choices
    .shuffled(Object.values(patches))
    .slice(0, 5)
    .map((patch) => to.patch('strategic', patch, { name: 'o0' }));
  return {
    name,
    subject: 'verbs',
    combinations: Object.keys(patches).map((what) => `strategic ${kind}: ${what}`),
    steps: [...steps, ...mixed],
  };
}

/** Paths that may be there or not, so that some operations fail. */
const PLACES = [
  '/metadata/labels',
  '/metadata/labels/a',
  '/metadata/annotations',
  '/metadata/annotations/x~1y',
  '/metadata/labels/nothing/below',
];

function jsonCase(kind: string, seed: number): DifferentialCase {
  const name = caseName('verbs-json', kind, seed);
  const choices = new Choices(seed, name);
  const of = generatedKind(kind);
  const to = requestsTo(of, name);
  const operation = (): Fields => {
    const path = choices.pick(PLACES);
    const text = choices.pick(['p', 'q']);
    const value = path.endsWith('s') ? { a: text } : text;
    return choices.pick<Fields>([
      { op: 'add', path, value },
      { op: 'add', path, value },
      { op: 'replace', path, value },
      { op: 'remove', path },
      { op: 'test', path, value },
      { op: 'copy', from: path, path: '/metadata/annotations' },
      { op: 'move', from: path, path: '/metadata/labels/moved' },
    ]);
  };
  const patches = Array.from({ length: 14 }, () => to.patch('json', choices.times(1, 3, operation)));
  const object = makeObject(of, choices, { name: 'one', labels: { a: 'b' }, annotations: { 'x/y': 'z' } });
  return {
    name,
    subject: 'verbs',
    combinations: ['add', 'remove', 'replace', 'move', 'copy', 'test'].map((operator) => `json ${kind}: ${operator}`),
    steps: [to.create(object), ...patches, to.get()],
  };
}

function mergeCase(kind: string, seed: number): DifferentialCase {
  const name = caseName('verbs-merge', kind, seed);
  const choices = new Choices(seed, name);
  const of = generatedKind(kind);
  const to = requestsTo(of, name);
  // One manager for all: 1.20 gives one that lost all of a map but the map itself all keys of it at the next write.
  const query: Record<string, string> = choices.maybe(() => ({ fieldManager: choices.pick(['one', 'two']) }));
  const patches = Array.from({ length: 8 }, () => {
    const labels = choices.pick<unknown>([null, {}, { a: null }, { b: 'c' }, { a: 'x', b: null }]);
    const annotations = choices.pick<unknown>([null, { n: '1' }, { n: null, m: '2' }]);
    return to.patch('merge', { metadata: { labels, ...choices.maybe(() => ({ annotations })) } }, { query });
  });
  const [path, value] = choices.pick(of.changes);
  const whole = path.includes('.') ? {} : { [path]: value };
  return {
    name,
    subject: 'verbs',
    combinations: [`merge ${kind}: maps`, `merge ${kind}: null`, `merge ${kind}: field manager`],
    steps: [
      to.create(makeObject(of, choices, { name: 'one', labels: { a: 'b' } }), query),
      ...patches,
      to.patch('merge', whole, { query }),
      to.patch('merge', {}, { query }),
      to.get(),
    ],
  };
}

function refusedCase(seed: number): DifferentialCase {
  const name = caseName('verbs-patch-refused', seed);
  const to = requestsTo(generatedKind('ConfigMap'), name);
  const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'one' }, data: { a: '1' } };
  const raw = (type: string, bodyText: string) => ({
    request: { method: 'PATCH', path: `${to.path}/one`, headers: { 'Content-Type': type }, bodyText },
  });
  return {
    name,
    subject: 'verbs',
    combinations: ['of nothing', 'name', 'uid', 'old version', 'kind', 'media type', 'malformed', 'json operator'].map(
      (what) => `patch ConfigMap: refuse ${what}`,
    ),
    steps: [
      to.create(body),
      to.patch('merge', { data: {} }, { name: 'absent' }),
      to.patch('merge', { metadata: { name: 'other' } }),
      to.patch('merge', { metadata: { uid: 'aaaaaaaa-0000-4000-8000-000000000000' } }),
      to.patch('merge', { metadata: { resourceVersion: '1' } }),
      to.patch('merge', { kind: 'Secret' }),
      raw('application/strange+json', '{}'),
      {
        ...raw('application/merge-patch+json', '{'),
        since: { because: 'what is malformed is a bad request; it was 500', status: 400 },
      },
      to.patch('json', [{ op: 'burn', path: '/data' }]),
      to.get(),
    ],
  };
}
