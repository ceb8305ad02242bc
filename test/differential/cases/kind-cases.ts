import { Choices } from '../choices.ts';
import type { DifferentialCase, RequestStep } from '../differential-case.ts';
import { GENERATED_KINDS } from '../objects/generated-kinds.ts';
import { changed, type Fields, type GeneratedKind, makeObject, pathOf } from '../objects/generated-kind.ts';
import { caseName, type Requests, requestsTo } from './requests.ts';

/** Every generated kind: what is made of random objects, what is refused, what stays as it is, its status, scale and Table. */
export function kindCases(seed: number): DifferentialCase[] {
  return GENERATED_KINDS.flatMap((kind) => [
    lifeCase(kind, seed),
    ...invalidCases(kind, seed),
    ...immutableCase(kind, seed),
    ...statusCase(kind, seed),
    ...scaleCase(kind, seed),
    tableCase(kind, seed),
  ]);
}

interface Setup {
  name: string;
  choices: Choices;
  to: Requests;
  /** A random object of the kind, named `one`, or like the case where the kind has no namespace. */
  object: Fields;
}

function setUp(kind: GeneratedKind, feature: string, seed: number): Setup {
  const name = caseName('kinds', kind.kind, feature, seed);
  const choices = new Choices(seed, name);
  const to = requestsTo(kind, name);
  const object = makeObject(kind, choices, { name: to.name });
  // An Event is about something of its own namespace.
  const placed = kind.kind === 'Event' ? changed(object, ['involvedObject.namespace', name]) : object;
  return { name, choices, to, object: placed };
}

function lifeCase(kind: GeneratedKind, seed: number): DifferentialCase {
  const { name, choices, to, object } = setUp(kind, 'life', seed);
  const [first, second] = choices.shuffled(kind.changes);
  const steps: RequestStep[] = [to.create(object), to.get()];
  if (first) steps.push(to.replaceWith(0, first), to.get());
  if (second) steps.push(to.replaceWith(2, second));
  steps.push(to.list(), to.delete(), to.get());
  const features = ['create defaulted', 'get', 'update', 'list', 'delete'];
  return { name, subject: 'kinds', combinations: features.map((feature) => `${kind.kind}: ${feature}`), steps };
}

/** One case for all that is wrong: each is a create of its own. */
function invalidCases(kind: GeneratedKind, seed: number): DifferentialCase[] {
  const { name, to, object } = setUp(kind, 'invalid', seed);
  const wrongs = Object.entries(kind.invalid);
  // Each under a name of its own, so that one that is taken leaves the others as they are.
  const steps = wrongs.map(([, change], index) =>
    to.create(changed(object, ['metadata.name', `${to.name}-${index}`], change)),
  );
  const combinations = wrongs.map(([what]) => `${kind.kind}: refuse ${what}`);
  const noName = { ...object, metadata: {} };
  // Good as a label, which Namespaces and Jobs make of it; unique, as RBAC takes it.
  const badName = { ...object, metadata: { name: `Capital-${to.name}` } };
  const badLabel = changed(object, ['metadata.labels', { ok: 'no good!' }]);
  const badAnnotation = changed(object, ['metadata.annotations', { 'not a key!': 'x' }]);
  return [
    {
      name,
      subject: 'kinds',
      combinations: [...combinations, `${kind.kind}: refuse names`, `${kind.kind}: refuse labels`],
      steps: [
        ...steps,
        to.create(noName),
        { ...to.create(badName), ...nameRefusedSince(kind) },
        to.create(badLabel),
        to.create(badAnnotation),
      ],
    },
  ];
}

/** 1.20 takes any name of an Event. */
function nameRefusedSince({ kind }: GeneratedKind): Pick<RequestStep, 'since'> {
  return kind === 'Event' ? { since: { because: 'in 1.20 any name was taken', status: 422 } } : {};
}

function immutableCase(kind: GeneratedKind, seed: number): DifferentialCase[] {
  const fields = Object.entries(kind.immutable ?? {});
  if (fields.length === 0) return [];
  const { name, to, object } = setUp(kind, 'immutable', seed);
  return [
    {
      name,
      subject: 'kinds',
      combinations: fields.map(([field]) => `${kind.kind}: keep ${field}`),
      steps: [to.create(object), ...fields.map(([, change]) => to.replaceWith(0, change)), to.get()],
    },
  ];
}

function statusCase(kind: GeneratedKind, seed: number): DifferentialCase[] {
  if (!kind.status) return [];
  const { name, to, object } = setUp(kind, 'status', seed);
  const elsewhere = { metadata: { labels: { from: 'status' } } };
  return [
    {
      name,
      subject: 'kinds',
      combinations: [`${kind.kind}: status apart`, `${kind.kind}: status not by the main resource`],
      steps: [
        to.create(object),
        to.patch('merge', { ...kind.status, ...elsewhere }, { subresource: 'status' }),
        to.patch('merge', { status: null, metadata: { annotations: { main: 'x' } } }),
        to.get('status'),
      ],
    },
  ];
}

function scaleCase(kind: GeneratedKind, seed: number): DifferentialCase[] {
  if (!kind.scale) return [];
  const { name, to, object } = setUp(kind, 'scale', seed);
  return [
    {
      name,
      subject: 'kinds',
      combinations: [`${kind.kind}: get scale`, `${kind.kind}: patch scale`, `${kind.kind}: refuse scale`],
      steps: [
        to.create(object),
        to.get('scale'),
        to.patch('merge', { spec: { replicas: 9 } }, { subresource: 'scale' }),
        to.patch('merge', { spec: { replicas: -2 } }, { subresource: 'scale' }),
        to.get(),
      ],
    },
  ];
}

function tableCase(kind: GeneratedKind, seed: number): DifferentialCase {
  const { name, to, object } = setUp(kind, 'table', seed);
  const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io';
  const one = { method: 'GET', path: `${pathOf(kind, name)}/${to.name}`, headers: { Accept: accept } };
  const steps: RequestStep[] = [to.create(object), { request: one }];
  if (kind.namespaced) {
    const query = { includeObject: 'None' };
    steps.push({ request: { method: 'GET', path: pathOf(kind, name), query, headers: { Accept: accept } } });
  }
  return { name, subject: 'kinds', combinations: [`${kind.kind}: printed`], steps };
}
