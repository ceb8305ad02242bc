import { Choices } from '../choices.ts';
import { type DifferentialCase, type DifferentialStep, SENTINEL } from '../differential-case.ts';
import { changed, type Fields, makeObject } from '../objects/generated-kind.ts';
import { generatedKind } from '../objects/generated-kinds.ts';
import { caseName, requestsTo } from './requests.ts';

const KINDS = [
  'ConfigMap',
  'Secret',
  'Deployment',
  'Endpoints',
  'Job',
  'Lease',
  'Role',
  'NetworkPolicy',
  'ServiceAccount',
  'StatefulSet',
];
const AT_ONCE = 6;
const FEATURES = [
  'one of many updates wins',
  'one of many creates wins',
  'one of many deletes wins',
  'pages of one moment',
  'every version seen by a watch',
  'order of names',
];

/** What of the storage clients can see: versions, compare-and-swap, snapshots of lists, and resumed watches. */
export function storageCases(seed: number): DifferentialCase[] {
  return [...KINDS.map((kind) => storageCase(kind, seed)), bytesCase(seed)];
}

function storageCase(kind: string, seed: number): DifferentialCase {
  const name = caseName('storage', kind, seed);
  const choices = new Choices(seed, name);
  const of = generatedKind(kind);
  const to = requestsTo(of, name);
  const object = (at: string): Fields => makeObject(of, choices, { name: at });
  const one = changed(object('one'), ['metadata.labels', { n: '0' }]);
  const many = <T>(make: (index: number) => T): T[] => Array.from({ length: AT_ONCE }, (_, index) => make(index));
  const versioned = changed(
    one,
    ['metadata.resourceVersion', '{{steps.0.body.metadata.resourceVersion}}'],
    ['metadata.labels', { n: '1' }],
  );
  const same = object('same');
  const names = choices
    .shuffled(['b', 'a', 'c.d', 'a-1', 'a0', '10', '9'])
    .filter((each) => kind !== 'StatefulSet' || !each.includes('.'));
  const made = names.map((each) => to.create(object(each)));
  const steps: DifferentialStep[] = [
    to.create(one),
    { together: many(() => ({ method: 'PUT', path: `${to.path}/one`, body: versioned })) },
    { together: many(() => ({ method: 'POST', path: to.path, body: same })) },
    {
      together: many(() => ({ method: 'DELETE', path: `${to.path}/same`, query: { propagationPolicy: 'Background' } })),
    },
    ...made,
  ];
  const first = steps.length;
  const page = (from: number): DifferentialStep =>
    to.list({ limit: '2', continue: `{{steps.${from}.body.metadata.continue}}` });
  const version = '{{steps.0.body.metadata.resourceVersion}}';
  steps.push(
    to.list({ limit: '2' }),
    to.create(object('a-late-one')),
    page(first),
    { request: { method: 'DELETE', path: `${to.path}/${names[0]}`, query: { propagationPolicy: 'Background' } } },
    page(first + 2),
    to.list(),
    {
      watches: [{ path: to.path, query: { resourceVersion: version, fieldSelector: 'metadata.name!=one' } }],
      during: [to.create(object(SENTINEL)).request],
    },
  );
  return { name, subject: 'storage', combinations: FEATURES.map((feature) => `${kind}: ${feature}`), steps };
}

/** Every byte comes back. */
function bytesCase(seed: number): DifferentialCase {
  const name = caseName('storage-bytes', seed);
  const choices = new Choices(seed, name);
  const to = requestsTo(generatedKind('ConfigMap'), name);
  const texts: Readonly<Record<string, string>> = {
    controls: '\u0000\u0001\u001f\t\r\n',
    quotes: '"\\\'/</script>&',
    'beyond the basic plane': '😀𝄞',
    'line separators': '\u2028\u2029',
    combining: 'e\u0301 é',
    long: choices.pick(['x', 'ü']).repeat(200_000),
  };
  const steps = Object.values(texts).flatMap((text, index) => [
    to.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: `t${index}` }, data: { text } }),
    { request: { method: 'GET', path: `${to.path}/t${index}` } },
  ]);
  return {
    name,
    subject: 'storage',
    combinations: Object.keys(texts).map((what) => `ConfigMap: text of ${what}`),
    steps,
  };
}
