import { Choices } from '../choices.ts';
import type { DifferentialCase, RequestStep } from '../differential-case.ts';
import type { Fields } from '../objects/generated-kind.ts';
import { ask, since, combinationsOf } from './as-user.ts';
import { caseName } from './requests.ts';

const MERGE = { headers: { 'Content-Type': 'application/merge-patch+json' } };
const NAMESPACES = '/api/v1/namespaces';

/** How objects come to be together, and end together. */
export function lifeCases(seed: number): DifferentialCase[] {
  return [namespaceCase(seed), ownerCase(seed), allocationCase(seed), evictionCase(seed)];
}

function map(metadata: Fields): Fields {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata };
}

function namespaceCase(seed: number): DifferentialCase {
  const name = caseName('admission', 'namespaces', seed);
  const inner = `${name}-x`;
  const path = `${NAMESPACES}/${inner}`;
  const finalize = (finalizers: readonly string[], more: Fields = {}): RequestStep =>
    ask('PUT', `${path}/finalize`, {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: inner, ...more },
      spec: { finalizers },
    });
  const status = (phase: string): RequestStep => ask('PATCH', `${path}/status`, { status: { phase } }, MERGE);
  return {
    name,
    subject: 'admission',
    combinations: combinationsOf('Namespace', [
      'finalizer kubernetes',
      'phase on create',
      'deleted',
      'created in while it ends',
      'updated in while it ends',
      'deleted in while it ends',
      'finalized',
      'finalized in part',
      'deleted again',
      'finalizers changed by update',
      'immortal',
      'own finalizers',
      'gone',
      'status',
    ]),
    steps: [
      ask('POST', NAMESPACES, {
        apiVersion: 'v1',
        kind: 'Namespace',
        metadata: { name: inner, finalizers: ['example.com/own'] },
        spec: { finalizers: ['example.com/mine'] },
        status: { phase: 'Terminating' },
      }),
      ask('POST', `${path}/configmaps`, map({ name: 'before' })),
      ask('PATCH', path, { spec: { finalizers: [] } }, MERGE),
      status('Terminating'),
      ask('POST', `${path}/configmaps`, map({ name: 'between' })),
      ask('DELETE', path),
      ask('GET', path),
      ask('POST', `${path}/configmaps`, map({ name: 'after' })),
      ask('PATCH', `${path}/configmaps/before`, { data: { a: 'b' } }, MERGE),
      ask('POST', `${path}/serviceaccounts`, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'after' } }),
      ask('DELETE', `${path}/configmaps/before`),
      ask('DELETE', path),
      finalize(['kubernetes']),
      finalize(['kubernetes', 'example.com/new']),
      finalize([]),
      ask('GET', path),
      ask('PATCH', path, { metadata: { finalizers: null } }, MERGE),
      ask('GET', path),
      ask('POST', `${path}/configmaps`, map({ name: 'late' })),
      ask('GET', `${path}/configmaps`),
      ...['default', 'kube-system', 'kube-public'].map((immortal) => ask('DELETE', `${NAMESPACES}/${immortal}`)),
      finalize([]),
    ],
  };
}

function ownerCase(seed: number): DifferentialCase {
  const name = caseName('admission', 'owners', seed);
  const choices = new Choices(seed, name);
  const path = `${NAMESPACES}/${name}/configmaps`;
  const owner = (more: Fields = {}): Fields => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    name: 'owner',
    uid: '{{steps.0.body.metadata.uid}}',
    ...more,
  });
  const make = (which: string, ...ownerReferences: Fields[]): RequestStep =>
    ask('POST', path, map({ name: which, ownerReferences }));
  const other = owner({ name: 'other', uid: '00000000-0000-4000-8000-000000000001' });
  const policies = ['Background', 'Foreground', 'Orphan'];
  return {
    name,
    subject: 'admission',
    combinations: combinationsOf('owner references', [
      'one',
      'two',
      'two that control',
      'no uid',
      'no name',
      'no kind',
      'no version',
      'event as owner',
      'twice',
      'blocking',
      'patched',
      'removed',
      ...policies.map((policy) => `${policy} with finalizers`),
      'orphanDependents',
    ]),
    steps: [
      ask('POST', path, map({ name: 'owner' })),
      make('one', owner({ controller: true, blockOwnerDeletion: choices.chance(0.5) })),
      make('two', owner(), other),
      make('controllers', owner({ controller: true }), { ...other, controller: true }),
      make('uidless', owner({ uid: '' })),
      make('nameless', owner({ name: '' })),
      make('kindless', owner({ kind: '' })),
      make('versionless', owner({ apiVersion: '' })),
      make('event', owner({ kind: 'Event' })),
      make('twice', owner(), owner()),
      ask(
        'PATCH',
        `${path}/one`,
        { metadata: { ownerReferences: [other] } },
        { headers: { 'Content-Type': 'application/strategic-merge-patch+json' } },
      ),
      ask(
        'PATCH',
        `${path}/one`,
        { metadata: { ownerReferences: [{ $patch: 'delete', uid: other['uid'] }] } },
        { headers: { 'Content-Type': 'application/strategic-merge-patch+json' } },
      ),
      ask('PATCH', `${path}/one`, { metadata: { ownerReferences: null } }, MERGE),
      ...policies.flatMap((propagationPolicy, index) => [
        ask(
          'POST',
          path,
          map({
            name: `p${index}`,
            finalizers: choices.pick([['example.com/x'], ['orphan'], ['foregroundDeletion', 'example.com/x']]),
          }),
        ),
        ask('DELETE', `${path}/p${index}`, { propagationPolicy }),
        ask('DELETE', `${path}/p${index}`, { propagationPolicy: choices.pick(policies) }),
        ask('GET', `${path}/p${index}`),
      ]),
      ask('POST', path, map({ name: 'old' })),
      ask('DELETE', `${path}/old`, { orphanDependents: true }),
      ask('GET', `${path}/old`),
    ],
  };
}

function allocationCase(seed: number): DifferentialCase {
  const name = caseName('admission', 'allocation', seed);
  const choices = new Choices(seed, name);
  const path = `${NAMESPACES}/${name}/services`;
  const make = (which: string, spec: Fields, query: Record<string, string> = {}): RequestStep =>
    ask(
      'POST',
      path,
      {
        apiVersion: 'v1',
        kind: 'Service',
        metadata: { name: which },
        spec: { selector: { a: 'b' }, ports: [{ port: 80 }], ...spec },
      },
      { query },
    );
  const patch = (which: string, spec: Fields): RequestStep => ask('PATCH', `${path}/${which}`, { spec }, MERGE);
  const address = '{{steps.0.body.spec.clusterIP}}';
  return {
    name,
    subject: 'admission',
    combinations: combinationsOf('Service', [
      'given an address',
      'address in use',
      'address out of range',
      'no address',
      'headless',
      'given a node port',
      'node port in use',
      'node port out of range',
      'external name',
      'turned into a node port',
      'turned into an external name',
      'turned back',
      'address changed',
      'dry run',
      'two ports of one number',
      'load balancer',
    ]),
    steps: [
      make('one', {}),
      make('same', { clusterIP: address }),
      make('far', { clusterIP: choices.pick(['192.0.2.1', '10.1.1.1', '10.0.0.0']) }),
      make('no-address', { clusterIP: 'somewhere' }),
      make('headless', { clusterIP: 'None' }),
      make('node', { type: 'NodePort' }),
      make('node-same', {
        type: 'NodePort',
        ports: [{ port: 80, nodePort: '{{steps.5.body.spec.ports.0.nodePort}}' }],
      }),
      make('node-far', { type: 'NodePort', ports: [{ port: 80, nodePort: choices.pick([80, 29_999, 32_768]) }] }),
      make('named', { type: 'ExternalName', externalName: 'example.com', ports: undefined }),
      patch('one', { type: 'NodePort' }),
      patch('one', { type: 'ClusterIP', ports: [{ port: 80 }] }),
      patch('one', { clusterIP: '10.1.1.77' }),
      patch('one', { clusterIP: 'None' }),
      patch('node', { type: 'ExternalName', externalName: 'example.com', clusterIP: null, ports: null }),
      patch('node', { type: 'ClusterIP', externalName: null, ports: [{ port: 80 }] }),
      patch('headless', { type: 'NodePort' }),
      since(make('dry', {}, { dryRun: 'All' }), {
        because: 'a dry run shows an address since 1.22',
        status: 201,
        body: { spec: { type: 'ClusterIP' } },
      }),
      make('udp', {
        type: 'NodePort',
        ports: [
          { name: 'a', port: 53 },
          { name: 'b', port: 53, protocol: 'UDP' },
        ],
      }),
      make('balanced', { type: 'LoadBalancer' }),
      ask('GET', path, undefined, { query: { labelSelector: 'none=there' } }),
    ],
  };
}

function evictionCase(seed: number): DifferentialCase {
  const name = caseName('admission', 'eviction', seed);
  const choices = new Choices(seed, name);
  const pods = `${NAMESPACES}/${name}/pods`;
  const budgets = `/apis/policy/v1beta1/namespaces/${name}/poddisruptionbudgets`;
  const pod = (which: string, labels: Fields): RequestStep =>
    ask('POST', pods, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: which, labels },
      spec: { nodeName: 'n', containers: [{ name: 'c', image: 'x' }] },
    });
  const runs = (which: string, ready = 'True'): RequestStep =>
    ask(
      'PATCH',
      `${pods}/${which}/status`,
      { status: { phase: 'Running', conditions: [{ type: 'Ready', status: ready }] } },
      MERGE,
    );
  const budget = (which: string, matchLabels: Fields): RequestStep =>
    ask('POST', budgets, {
      apiVersion: 'policy/v1beta1',
      kind: 'PodDisruptionBudget',
      metadata: { name: which },
      spec: { minAvailable: 1, selector: { matchLabels } },
    });
  const allows = (which: string, disruptionsAllowed: number, observedGeneration = 1): RequestStep =>
    ask(
      'PATCH',
      `${budgets}/${which}/status`,
      { status: { disruptionsAllowed, observedGeneration, currentHealthy: 1, desiredHealthy: 1, expectedPods: 2 } },
      MERGE,
    );
  const evict = (which: string, more: Fields = {}, query: Record<string, string> = {}): RequestStep =>
    ask(
      'POST',
      `${pods}/${which}/eviction`,
      { apiVersion: 'policy/v1beta1', kind: 'Eviction', metadata: { name: which }, ...more },
      { query },
    );
  return {
    name,
    subject: 'admission',
    combinations: combinationsOf('eviction', [
      'no budget',
      'not allowed',
      'allowed',
      'used up',
      'not yet observed',
      'two budgets',
      'absent pod',
      'dry run',
      'other name',
      'grace period',
      'ended pod',
      'wrong uid',
    ]),
    steps: [
      budget('one', { app: 'a' }),
      ...['a-1', 'a-2', 'a-3'].flatMap((which) => [pod(which, { app: 'a' }), runs(which)]),
      pod('free', { app: 'free' }),
      runs('free'),
      evict('free', { deleteOptions: { gracePeriodSeconds: choices.int(1, 60) } }),
      since(evict('a-1'), {
        because: 'it tells when to try again since 1.22',
        status: 429,
        body: { details: { retryAfterSeconds: 10 } },
      }),
      allows('one', 0),
      evict('a-1'),
      allows('one', 1),
      evict('a-1', {}, { dryRun: 'All' }),
      evict('a-1', { deleteOptions: { dryRun: ['All'] } }),
      evict('a-1', { deleteOptions: { preconditions: { uid: '00000000-0000-4000-8000-000000000000' } } }),
      allows('one', 1),
      evict('a-1'),
      ask('GET', `${budgets}/one`),
      evict('a-2'),
      evict('absent'),
      evict('a-2', { metadata: { name: 'other' } }),
      budget('two', { app: 'a' }),
      evict('a-3'),
      ask('PATCH', `${pods}/a-3/status`, { status: { phase: 'Succeeded' } }, MERGE),
      evict('a-3'),
      ask('GET', `${pods}/a-2`),
    ],
  };
}
