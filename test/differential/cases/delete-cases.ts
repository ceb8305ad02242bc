import { Choices } from '../choices.ts';
import type { DifferentialCase, RequestStep } from '../differential-case.ts';
import { type Fields, makeObject } from '../objects/generated-kind.ts';
import { generatedKind } from '../objects/generated-kinds.ts';
import { map, mapCase, NOBODY } from './map-case.ts';
import { caseName, requestsTo } from './requests.ts';

/** Deletes with all that they may carry, and what holds objects back. */
export function deleteCases(seed: number): DifferentialCase[] {
  return [deleteCase(seed), finalizerCase(seed), collectionCase(seed), graceCase(seed), propagationCase(seed)];
}

function deleteCase(seed: number): DifferentialCase {
  const { name, to } = mapCase('delete', seed);
  const create = to.create(map({ name: 'one' }));
  const options = (more: Fields): Fields => ({ apiVersion: 'v1', kind: 'DeleteOptions', ...more });
  return {
    name,
    subject: 'verbs',
    combinations: [
      'other uid',
      'own uid',
      'old version',
      'own version',
      'absent',
      'options by query',
      'bad policy',
      'both policies',
      'unknown kind of options',
      'dry run',
    ].map((what) => `delete ConfigMap: ${what}`),
    steps: [
      create,
      to.delete(options({ preconditions: { uid: NOBODY } })),
      to.delete(options({ preconditions: { resourceVersion: '1' } })),
      to.delete(options({ propagationPolicy: 'Sideways' })),
      to.delete(options({ propagationPolicy: 'Orphan', orphanDependents: true })),
      to.delete(options({ dryRun: ['All'] })),
      to.delete(options({ dryRun: ['Some'] })),
      to.get(),
      to.delete(
        options({
          preconditions: {
            uid: '{{steps.0.body.metadata.uid}}',
            resourceVersion: '{{steps.0.body.metadata.resourceVersion}}',
          },
        }),
      ),
      to.get(),
      to.delete(),
      create,
      to.delete(undefined, { propagationPolicy: 'Background', gracePeriodSeconds: '0' }),
      create,
      {
        ...to.delete({ kind: 'Pod', apiVersion: 'v1' }),
        since: { because: 'other options are a bad request; they were 500', status: 400 },
      },
      to.get(),
    ],
  };
}

function finalizerCase(seed: number): DifferentialCase {
  const { name, to } = mapCase('finalizers', seed);
  return {
    name,
    subject: 'verbs',
    combinations: [
      'held',
      'deleted again',
      'changed while held',
      'finalizer added while held',
      'removed at last',
      'made with a time of deletion',
    ].map((what) => `finalizers ConfigMap: ${what}`),
    steps: [
      to.create(
        map({ name: 'one', finalizers: ['example.com/a', 'example.com/b'], deletionTimestamp: '2026-01-01T00:00:00Z' }),
      ),
      to.delete(),
      to.get(),
      to.delete(),
      to.patch('merge', { data: { still: 'here' } }),
      to.patch('merge', { metadata: { finalizers: ['example.com/a', 'example.com/b', 'example.com/c'] } }),
      to.patch('merge', { metadata: { finalizers: ['example.com/b'] } }),
      to.create(map({ name: 'one' })),
      to.patch('merge', { metadata: { finalizers: null } }),
      to.get(),
    ],
  };
}

function collectionCase(seed: number): DifferentialCase {
  const { name, choices, to } = mapCase('collection', seed);
  const make = Array.from({ length: 8 }, (_, index) =>
    to.create(
      map({
        name: `o${index}`,
        labels: { a: choices.pick(['1', '2', '3']) },
        ...(index === 0 ? { finalizers: ['example.com/x'] } : {}),
      }),
    ),
  );
  const remove = (query: Record<string, string>): RequestStep => ({
    request: { method: 'DELETE', path: to.path, query },
  });
  return {
    name,
    subject: 'verbs',
    combinations: ['by labels', 'by fields', 'dry run', 'all', 'held by finalizers', 'bad selector'].map(
      (what) => `delete collection ConfigMap: ${what}`,
    ),
    steps: [
      ...make,
      remove({ labelSelector: 'a=1', dryRun: 'All' }),
      to.list(),
      remove({ labelSelector: '((' }),
      remove({ labelSelector: 'a=1' }),
      to.list(),
      remove({ fieldSelector: 'metadata.name=o3' }),
      to.list(),
      remove({}),
      to.list(),
    ],
  };
}

function graceCase(seed: number): DifferentialCase {
  const name = caseName('verbs-grace', seed);
  const choices = new Choices(seed, name);
  const of = generatedKind('Pod');
  const to = requestsTo(of, name);
  const pod = (metadata: Fields, node?: string): RequestStep =>
    to.create({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata,
      spec: { ...(node === undefined ? {} : { nodeName: node }), containers: [{ name: 'c', image: 'x' }] },
    });
  const remove = (path: string, options: Fields): RequestStep => ({
    request: { method: 'DELETE', path: `${to.path}/${path}`, body: options },
  });
  const bind = (node: string): RequestStep => {
    const target = { kind: 'Node', name: node };
    const body = { apiVersion: 'v1', kind: 'Binding', metadata: { name: 'late' }, target };
    return { request: { method: 'POST', path: `${to.path}/late/binding`, body } };
  };
  const seconds = choices.int(2, 40);
  return {
    name,
    subject: 'verbs',
    combinations: ['not scheduled', 'scheduled', 'shortened', 'not lengthened', 'zero', 'bound', 'evicted'].map(
      (what) => `delete Pod: ${what}`,
    ),
    steps: [
      pod({ name: 'free' }),
      remove('free', {}),
      pod({ name: 'held' }, 'node-1'),
      remove('held', {}),
      remove('held', { gracePeriodSeconds: seconds }),
      remove('held', { gracePeriodSeconds: seconds + 50 }),
      remove('held', { gracePeriodSeconds: 0 }),
      pod({ name: 'late' }),
      bind('node-2'),
      bind('node-3'),
      { request: { method: 'GET', path: `${to.path}/late` } },
      {
        request: {
          method: 'POST',
          path: `${to.path}/late/eviction`,
          body: { apiVersion: 'policy/v1beta1', kind: 'Eviction', metadata: { name: 'late' } },
        },
      },
    ],
  };
}

function propagationCase(seed: number): DifferentialCase {
  const { name, choices } = mapCase('propagation', seed);
  const kinds = ['Deployment', 'ReplicaSet', 'ConfigMap', 'Job'];
  const policies = ['Background', 'Foreground', 'Orphan'];
  const steps = kinds.flatMap((kind) => {
    const of = generatedKind(kind);
    const to = requestsTo(of, name);
    return policies.flatMap((propagationPolicy, index) => {
      const path = `${to.path}/p${index}`;
      return [
        to.create(makeObject(of, choices, { name: `p${index}` })),
        { request: { method: 'DELETE', path, body: { propagationPolicy } } },
        { request: { method: 'GET', path } },
      ];
    });
  });
  return {
    name,
    subject: 'verbs',
    combinations: kinds.flatMap((kind) => policies.map((policy) => `delete ${kind}: ${policy}`)),
    steps,
  };
}
