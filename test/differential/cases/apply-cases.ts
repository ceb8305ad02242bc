import { Choices } from '../choices.ts';
import type { DifferentialCase, RequestStep } from '../differential-case.ts';
import type { Fields } from '../objects/generated-kind.ts';
import { generatedKind } from '../objects/generated-kinds.ts';
import { caseName, type Requests, requestsTo } from './requests.ts';

const MANAGERS = ['one', 'two', 'three'];
const APPLIES = 14;

/** At least one, as what is empty is owned by other rules since 1.24. */
function someOf<T>(choices: Choices, from: readonly T[]): T[] {
  const chosen = choices.some(from);
  return chosen.length > 0 ? chosen : [choices.pick(from)];
}

/** What a manager may want of an object of the kind; each time another part of it. */
const WISHES: Readonly<Record<string, (choices: Choices) => Fields>> = {
  ConfigMap: (choices) => ({
    data: Object.fromEntries(someOf(choices, ['a', 'b', 'c']).map((key) => [key, choices.pick(['1', '2'])])),
  }),
  Secret: (choices) => ({
    data: Object.fromEntries(someOf(choices, ['a', 'b']).map((key) => [key, choices.pick(['MQ==', 'Mg=='])])),
  }),
  ServiceAccount: (choices) => ({
    secrets: someOf(choices, ['s', 't']).map((name) => ({ name })),
    ...choices.maybe(() => ({ automountServiceAccountToken: choices.chance(0.5) })),
  }),
  Service: (choices) => ({
    spec: {
      ports: [
        { port: 80, protocol: 'TCP', name: 'web', ...choices.maybe(() => ({ targetPort: choices.int(8080, 8081) })) },
        ...choices.some([{ port: 81, protocol: 'TCP', name: 'more' }]),
      ],
      ...choices.maybe(() => ({ sessionAffinity: choices.pick(['None', 'ClientIP']) })),
    },
  }),
  Deployment: (choices) => ({
    spec: {
      ...choices.maybe(() => ({ replicas: choices.int(1, 2) })),
      selector: { matchLabels: { app: 'web' } },
      template: {
        metadata: { labels: { app: 'web', ...choices.maybe(() => ({ extra: choices.pick(['x', 'y']) })) } },
        spec: {
          containers: [
            {
              name: 'main',
              image: choices.pick(['x:1', 'x:2']),
              ...choices.maybe(() => ({
                env: someOf(choices, ['A', 'B', 'C']).map((name) => ({ name, value: choices.pick(['1', '2']) })),
              })),
              ...choices.maybe(() => ({
                ports: someOf(choices, [80, 81]).map((containerPort) => ({ containerPort, protocol: 'TCP' })),
              })),
              ...choices.maybe(() => ({ args: someOf(choices, ['p', 'q']) })),
            },
            ...choices.some([{ name: 'side', image: 's:1' }]),
          ],
          ...choices.maybe(() => ({
            volumes: someOf(choices, ['v', 'w']).map((name) => ({ name, emptyDir: { medium: 'Memory' } })),
          })),
          ...choices.maybe(() => ({
            tolerations: someOf(choices, [
              { key: 'a', operator: 'Exists' },
              { key: 'b', operator: 'Exists' },
            ]),
          })),
        },
      },
    },
  }),
  Role: (choices) => ({
    rules: someOf(choices, ['pods', 'secrets']).map((resource) => ({
      apiGroups: [''],
      resources: [resource],
      verbs: ['get'],
    })),
  }),
  NetworkPolicy: (choices) => ({
    spec: {
      podSelector: { matchLabels: { a: choices.pick(['1', '2']) } },
      ...choices.maybe(() => ({ policyTypes: ['Ingress'] })),
    },
  }),
  Lease: (choices) => ({
    spec: choices.pick<Fields>([
      { holderIdentity: choices.pick(['x', 'y']) },
      { leaseDurationSeconds: choices.int(1, 2) },
      { holderIdentity: choices.pick(['x', 'y']), leaseDurationSeconds: choices.int(1, 2) },
    ]),
  }),
  StorageClass: (choices) => ({
    provisioner: 'example.com/disk',
    ...choices.maybe(() => ({ allowVolumeExpansion: choices.chance(0.5) })),
  }),
};

/** Applies by several managers in a random order, with plain updates and patches between them. */
export function applyCases(seed: number): DifferentialCase[] {
  return [...Object.keys(WISHES).map((kind) => runOfApplies(kind, seed)), refusedApplies(seed)];
}

function runOfApplies(kind: string, seed: number): DifferentialCase {
  const name = caseName('verbs-apply', kind, seed);
  const choices = new Choices(seed, name);
  const of = generatedKind(kind);
  const to = requestsTo(of, name);
  const wish = WISHES[kind] ?? (() => ({}));
  const apply = (): RequestStep => {
    const own = choices.some(['l', 'm']).map((key) => [key, choices.pick(['1', '2'])]);
    // One label always stays, so that no plain write comes to own the map of labels: see the case of merge patches.
    const metadata = { name: to.name, labels: { kept: 'x', ...(Object.fromEntries(own) as Fields) } };
    const query = {
      fieldManager: choices.pick(MANAGERS),
      ...choices.maybe(() => ({ force: 'true' }), 0.3),
      ...(kind === 'Service' ? {} : choices.maybe(() => ({ dryRun: 'All' }), 0.1)),
    };
    return to.patch('apply', { apiVersion: of.apiVersion, kind, metadata, ...wish(choices) }, { query });
  };
  const steps = Array.from({ length: APPLIES }, (_, index) =>
    index > 1 && choices.chance(0.25) ? plainWrite(to, choices) : apply(),
  );
  const features = ['create', 'merge', 'conflict', 'force', 'shared fields', 'fields given up', 'after other writes'];
  return {
    name,
    subject: 'verbs',
    combinations: features.map((feature) => `apply ${kind}: ${feature}`),
    steps,
  };
}

function plainWrite(to: Requests, choices: Choices): RequestStep {
  const labels = { [choices.pick(['l', 'm', 'n'])]: choices.pick(['1', '2', null]) };
  const query = { fieldManager: choices.pick([...MANAGERS, 'other']) };
  return to.patch('merge', { metadata: { labels } }, { query });
}

function refusedApplies(seed: number): DifferentialCase {
  const name = caseName('verbs-apply-refused', seed);
  const to = requestsTo(generatedKind('ConfigMap'), name);
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'one' }, data: { a: '1' } };
  const query = { fieldManager: 'one' };
  const yaml = {
    method: 'PATCH',
    path: `${to.path}/yaml`,
    query,
    headers: { 'Content-Type': 'application/apply-patch+yaml' },
  };
  return {
    name,
    subject: 'verbs',
    combinations: [
      'without manager',
      'other name',
      'managed fields',
      'other kind',
      'yaml',
      'malformed yaml',
      'version of nothing',
      'force of a merge patch',
    ].map((what) => `apply ConfigMap: ${what}`),
    steps: [
      to.patch('apply', object),
      to.patch('apply', object, { query }),
      to.patch('apply', { ...object, metadata: { name: 'other' } }, { query }),
      to.patch('apply', { ...object, metadata: { managedFields: [{ manager: 'x' }] } }, { query }),
      {
        ...to.patch('apply', { ...object, kind: 'Secret' }, { query }),
        since: { because: 'another kind is a bad request; it was 500', status: 400 },
      },
      { request: { ...yaml, bodyText: 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: yaml\ndata:\n  a: "1"\n' } },
      { request: { ...yaml, bodyText: 'a: b: c' } },
      to.patch('apply', { ...object, metadata: { name: 'absent', resourceVersion: '1' } }, { query, name: 'absent' }),
      to.patch('merge', { data: {} }, { query: { force: 'true' } }),
      to.get(),
    ],
  };
}
