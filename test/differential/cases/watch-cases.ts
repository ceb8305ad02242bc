import type { RecordedRequest } from '../../conformance/scenario.ts';
import { Choices } from '../choices.ts';
import { type DifferentialCase, SENTINEL, type WatchStep } from '../differential-case.ts';
import { type Fields, type GeneratedKind, makeObject } from '../objects/generated-kind.ts';
import { generatedKind } from '../objects/generated-kinds.ts';
import { map } from './map-case.ts';
import { caseName, requestsTo } from './requests.ts';

const KINDS = ['ConfigMap', 'Secret', 'Service', 'Deployment', 'Pod', 'Job', 'ServiceAccount', 'Lease'];
const NAMES = ['o0', 'o1', 'o2', 'o3'];
const CHANGES = 24;

/** Watches from several places and with several selectors, all over the same churn. */
export function watchCases(seed: number): DifferentialCase[] {
  return [...KINDS.map((kind) => churnCase(kind, seed)), formsCase(seed), beginningsCase(seed), initialCase(seed)];
}

/** Never none: a Job without labels is stored without, shown with its template's, and stored with these by a patch of nothing. */
function labels(choices: Choices): Fields {
  return { x: '1', ...Object.fromEntries(choices.some(['a', 'b']).map((key) => [key, choices.pick(['1', '2'])])) };
}

/** Creates, changes and deletes; the last makes the sentinel, which every selector of a watch has to match. */
function churn(of: GeneratedKind, choices: Choices, namespace: string): RecordedRequest[] {
  const to = requestsTo(of, namespace);
  const requests = Array.from({ length: CHANGES }, (): RecordedRequest => {
    const name = choices.pick(NAMES);
    const path = `${to.path}/${name}`;
    const merge = { 'Content-Type': 'application/merge-patch+json' };
    return choices.pick<() => RecordedRequest>([
      () => to.create(makeObject(of, choices, { name, labels: labels(choices) })).request,
      () => ({
        method: 'PATCH',
        path,
        headers: merge,
        body: { metadata: { labels: { a: choices.pick(['1', '2', null]), b: choices.pick(['1', null]) } } },
      }),
      () => ({
        method: 'PATCH',
        path,
        headers: merge,
        body: { metadata: { annotations: { n: choices.pick(['1', '2']) } } },
      }),
      () => ({ method: 'DELETE', path, query: { gracePeriodSeconds: '0' } }),
    ])();
  });
  const sentinel = makeObject(of, choices, { name: SENTINEL, labels: { a: '1', b: '1' } });
  return [...requests, to.create(sentinel).request];
}

function churnCase(kind: string, seed: number): DifferentialCase {
  const name = caseName('verbs-watch', kind, seed);
  const choices = new Choices(seed, name);
  const of = generatedKind(kind);
  const to = requestsTo(of, name);
  const resourceVersion = '{{steps.1.body.metadata.resourceVersion}}';
  const watches: WatchStep['watches'] = [
    { path: to.path, query: { resourceVersion } },
    { path: to.path, query: { resourceVersion, labelSelector: 'a=1' } },
    { path: to.path, query: { resourceVersion, labelSelector: 'a in (1,3),b' } },
    { path: to.path, query: { resourceVersion, labelSelector: 'b notin (2)' } },
    { path: to.path, query: { resourceVersion, fieldSelector: 'metadata.name!=o1' } },
    { path: to.path, query: {} },
    { path: to.path, query: { resourceVersion: '{{steps.0.body.metadata.resourceVersion}}' } },
  ];
  const features = [
    'from a version',
    'labels',
    'set of labels',
    'not in labels',
    'fields',
    'from the state',
    'from the past',
  ];
  return {
    name,
    subject: 'verbs',
    combinations: features.map((feature) => `watch ${kind}: ${feature}`),
    steps: [
      to.create(makeObject(of, choices, { name: 'o0', labels: { a: '1' } })),
      to.list(),
      { watches, during: churn(of, choices, name) },
    ],
  };
}

function formsCase(seed: number): DifferentialCase {
  const name = caseName('verbs-watch-forms', seed);
  const choices = new Choices(seed, name);
  const of = generatedKind('ConfigMap');
  const to = requestsTo(of, name);
  const resourceVersion = '{{steps.1.body.metadata.resourceVersion}}';
  const as = (transform: string): WatchStep['watches'][number] => ({
    path: to.path,
    query: { resourceVersion },
    headers: { Accept: `application/json;as=${transform};v=v1;g=meta.k8s.io` },
  });
  return {
    name,
    subject: 'verbs',
    combinations: ['table', 'partial metadata', 'one by its path', 'by name'].map((what) => `watch ConfigMap: ${what}`),
    steps: [
      to.create(makeObject(of, choices, { name: 'o0' })),
      to.list(),
      {
        watches: [
          as('Table'),
          as('PartialObjectMetadata'),
          { path: `/api/v1/watch/namespaces/${name}/configmaps`, query: { resourceVersion } },
          { path: to.path, query: { resourceVersion, fieldSelector: `metadata.name=${SENTINEL}` } },
        ],
        during: churn(of, choices, name),
      },
    ],
  };
}

/** Where watches may begin, and where not. */
function beginningsCase(seed: number): DifferentialCase {
  const name = caseName('verbs-watch-start', seed);
  const choices = new Choices(seed, name);
  const of = generatedKind('ConfigMap');
  const to = requestsTo(of, name);
  const query = (more: Record<string, string>): Record<string, string> => ({ timeoutSeconds: '1', ...more });
  const resourceVersion = '{{steps.0.body.metadata.resourceVersion}}';
  return {
    name,
    subject: 'verbs',
    combinations: ['version zero', 'bad version', 'bad selector', 'unknown field', 'ended by its time', 'limit'].map(
      (what) => `watch ConfigMap: ${what}`,
    ),
    steps: [
      to.create(makeObject(of, choices, { name: 'o0' })),
      {
        watches: [
          { path: to.path, query: query({ resourceVersion: '0' }) },
          { path: to.path, query: query({ resourceVersion: 'abc' }) },
          { path: to.path, query: query({ labelSelector: '((' }) },
          { path: to.path, query: query({ fieldSelector: 'data.a=1' }) },
          { path: to.path, query: query({ resourceVersion }) },
          { path: to.path, query: query({ resourceVersion, limit: '1' }) },
        ],
        during: [],
      },
    ],
  };
}

/** A watch that begins with the state and says where that ends. */
function initialCase(seed: number): DifferentialCase {
  const name = caseName('verbs-watch-initial', seed);
  const of = generatedKind('ConfigMap');
  const to = requestsTo(of, name);
  const query = { sendInitialEvents: 'true', resourceVersionMatch: 'NotOlderThan', allowWatchBookmarks: 'true' };
  const added = (object: string): Fields => ({ type: 'ADDED', object: { metadata: { name: object } } });
  const bookmark = {
    type: 'BOOKMARK',
    object: { kind: 'ConfigMap', metadata: { annotations: { 'k8s.io/initial-events-end': 'true' } } },
  };
  const because = 'sendInitialEvents is of 1.27 and on since 1.34; 1.20 does not know it';
  const refused = { because, status: 422, body: { reason: 'Invalid' } };
  return {
    name,
    subject: 'verbs',
    combinations: [
      'initial events',
      'bookmark after the initial events',
      'initial events without match',
      'initial events of a list',
    ].map((what) => `watch ConfigMap: ${what}`),
    steps: [
      to.create(map({ name: 'a' })),
      to.create(map({ name: 'b' })),
      {
        watches: [{ path: to.path, query }],
        during: [to.create(map({ name: SENTINEL })).request],
        since: { because, events: [added('a'), added('b'), bookmark, added(SENTINEL)] },
      },
      { ...to.list({ watch: 'true', sendInitialEvents: 'true', timeoutSeconds: '1' }), since: refused },
      { ...to.list({ sendInitialEvents: 'true', resourceVersionMatch: 'NotOlderThan' }), since: refused },
    ],
  };
}
