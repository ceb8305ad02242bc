import { Choices } from '../choices.ts';
import type { DifferentialCase, NewerAnswer, RequestStep } from '../differential-case.ts';
import { makeObject } from '../objects/generated-kind.ts';
import { generatedKind } from '../objects/generated-kinds.ts';
import { caseName, requestsTo } from './requests.ts';

const LABEL_SELECTORS = [
  'a=1',
  'a==1',
  'a!=1',
  'a in (1,2)',
  'a notin (1)',
  'a',
  '!a',
  'a=1,b=2',
  'a in (1),!b',
  'a=',
  'a>1',
  'a<2',
  'a in ()',
  'a=1=2',
  '(',
  'a in (1',
  'not a key!=x',
  'a=b c',
  ' a = 1 ',
  'a,,b',
  'example.com/x=1',
  'a notin (1,3),b',
];
const FIELD_SELECTORS: Readonly<Record<string, readonly string[]>> = {
  ConfigMap: [
    'metadata.name=o1',
    'metadata.name!=o1',
    'metadata.name==o2,metadata.namespace=other',
    'data.a=1',
    'metadata.labels.a=1',
    'metadata.name',
    'metadata.name=o1,metadata.name=o2',
  ],
  Secret: ['type=Opaque', 'type!=Opaque', 'metadata.name=o3', 'data=x'],
  Pod: [
    'spec.restartPolicy=Never',
    'status.phase=Pending',
    'status.phase!=Pending',
    'spec.nodeName=',
    'spec.schedulerName=default-scheduler',
    'status.podIP=',
    'spec.serviceAccountName=x',
    'status.nominatedNodeName=',
    'spec.containers=x',
  ],
  Event: [
    'reason=Made',
    'type=Warning',
    'involvedObject.kind=ConfigMap',
    'involvedObject.name=x',
    'involvedObject.namespace=nowhere',
    'source=tester',
    'message=x',
  ],
  Job: ['status.successful=0', 'metadata.name=o1', 'spec.parallelism=1'],
  ReplicaSet: ['status.replicas=0', 'status.replicas!=0'],
  ReplicationController: ['status.replicas=0'],
};
const OBJECTS = 6;

/** By the version or the token that is asked for: what 1.36 answers. */
const NEWER_LISTS: Readonly<Record<string, NewerAnswer>> = {
  abc: { because: 'a bad version is a bad request since 1.31; it was 500', status: 400 },
  nonsense: { because: 'the watch cache reads tokens since 1.34; it was 400', status: 500 },
};

/** Random objects, and what lists show of them. */
export function listCases(seed: number): DifferentialCase[] {
  return [
    labelCase('ConfigMap', seed),
    labelCase('Service', seed),
    ...Object.keys(FIELD_SELECTORS).map((kind) => fieldCase(kind, seed)),
    optionsCase(seed),
    formsCase(seed),
  ];
}

function objectsOf(kind: string, choices: Choices, namespace: string): RequestStep[] {
  const of = generatedKind(kind);
  const to = requestsTo(of, namespace);
  return Array.from({ length: OBJECTS }, (_, index) => {
    const labels = Object.fromEntries(
      choices.some(['a', 'b', 'example.com/x']).map((key) => [key, choices.pick(['1', '2', '3', ''])]),
    );
    const object = makeObject(of, choices, { name: `o${index}`, labels, ...(kind === 'Event' ? { namespace } : {}) });
    const involved = kind === 'Event' ? { involvedObject: { ...(object['involvedObject'] as object), namespace } } : {};
    return to.create({ ...object, ...involved });
  });
}

function labelCase(kind: string, seed: number): DifferentialCase {
  const name = caseName('verbs-labels', kind, seed);
  const choices = new Choices(seed, name);
  const to = requestsTo(generatedKind(kind), name);
  const some = choices.shuffled(LABEL_SELECTORS);
  const terms = ['a', '!b', 'a=1', 'b!=2', 'a in (1,3)', 'b notin (2,)', 'example.com/x'];
  const random = Array.from({ length: 6 }, () => choices.some(terms).join(','));
  return {
    name,
    subject: 'verbs',
    combinations: LABEL_SELECTORS.map((selector) => `list ${kind}: labels ${selector}`),
    steps: [
      ...objectsOf(kind, choices, name),
      ...[...some, ...random].map((labelSelector) => to.list({ labelSelector })),
    ],
  };
}

function fieldCase(kind: string, seed: number): DifferentialCase {
  const name = caseName('verbs-fields', kind, seed);
  const choices = new Choices(seed, name);
  const to = requestsTo(generatedKind(kind), name);
  const selectors = FIELD_SELECTORS[kind] ?? [];
  return {
    name,
    subject: 'verbs',
    combinations: selectors.map((selector) => `list ${kind}: fields ${selector}`),
    steps: [...objectsOf(kind, choices, name), ...selectors.map((fieldSelector) => to.list({ fieldSelector }))],
  };
}

function optionsCase(seed: number): DifferentialCase {
  const name = caseName('verbs-list-options', seed);
  const choices = new Choices(seed, name);
  const to = requestsTo(generatedKind('ConfigMap'), name);
  const first = `{{steps.0.body.metadata.resourceVersion}}`;
  const last = `{{steps.${OBJECTS - 1}.body.metadata.resourceVersion}}`;
  const match = (resourceVersion: string, resourceVersionMatch: string, more = {}): Record<string, string> => ({
    resourceVersion,
    resourceVersionMatch,
    ...more,
  });
  const queries: Record<string, string>[] = [
    { resourceVersion: last },
    { resourceVersion: 'abc' },
    match(last, 'NotOlderThan'),
    match(last, 'Exact'),
    match(first, 'Exact'),
    match('0', 'Exact'),
    match(last, 'Sometimes'),
    { resourceVersionMatch: 'Exact' },
    { limit: '2' },
    { limit: '2', labelSelector: 'a=1' },
    { limit: '-1' },
    { limit: 'two' },
    { limit: '2', continue: 'nonsense' },
    { resourceVersion: '999999999' },
    { timeoutSeconds: 'x' },
  ];
  const names = [
    'version',
    'version not a number',
    'not older than',
    'exact',
    'exact of the past',
    'exact zero',
    'unknown match',
    'match without version',
    'limit',
    'limit and selector',
    'negative limit',
    'limit not a number',
    'bad continue',
    'version of the future',
    'bad timeout',
  ];
  return {
    name,
    subject: 'verbs',
    combinations: names.map((what) => `list ConfigMap: ${what}`),
    steps: [
      ...objectsOf('ConfigMap', choices, name),
      ...queries.map((query) => {
        const since = NEWER_LISTS[query['resourceVersion'] ?? query['continue'] ?? ''];
        return since ? { ...to.list(query), since } : to.list(query);
      }),
    ],
  };
}

function formsCase(seed: number): DifferentialCase {
  const name = caseName('verbs-list-forms', seed);
  const choices = new Choices(seed, name);
  const kind = generatedKind('ConfigMap');
  const to = requestsTo(kind, name);
  const accepts: Readonly<Record<string, string>> = {
    'partial metadata': 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io',
    fallback: 'application/strange,application/json',
    'not acceptable': 'application/strange',
    anything: '*/*',
    protobuf: 'application/vnd.kubernetes.protobuf',
    'table of an old version': 'application/json;as=Table;v=v1beta1;g=meta.k8s.io',
    'table of no version': 'application/json;as=Table;v=v7;g=meta.k8s.io',
  };
  const list = (accept: string): RequestStep => ({
    request: { method: 'GET', path: to.path, headers: { Accept: accept } },
  });
  const one: RequestStep = {
    request: {
      method: 'GET',
      path: `${to.path}/o1`,
      headers: { Accept: 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io' },
    },
  };
  const all: RequestStep = {
    request: { method: 'GET', path: '/api/v1/configmaps', query: { fieldSelector: `metadata.namespace=${name}` } },
  };
  const pretty: RequestStep = { request: { method: 'GET', path: `${to.path}/o1`, query: { pretty: 'true' } } };
  return {
    name,
    subject: 'verbs',
    combinations: [...Object.keys(accepts), 'partial object', 'all namespaces', 'pretty', 'empty namespace'].map(
      (what) => `read ConfigMap: ${what}`,
    ),
    steps: [
      ...objectsOf('ConfigMap', choices, name),
      ...Object.values(accepts).map((accept) =>
        accept === 'application/strange'
          ? { ...list(accept), since: { because: 'the types that are served are told since 1.22', status: 406 } }
          : list(accept),
      ),
      one,
      all,
      pretty,
      { request: { method: 'GET', path: '/api/v1/namespaces/nowhere-at-all/configmaps' } },
    ],
  };
}
