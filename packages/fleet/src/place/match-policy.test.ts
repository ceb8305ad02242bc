import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ClusterPropagationPolicy, PropagationPolicy, ResourceSelector } from '../api/index.ts';
import { choosePolicy, selectionBy, specificityOf } from './match-policy.ts';
import { deployment } from './testing/build.ts';

const selector = (extra: Partial<ResourceSelector> = {}): ResourceSelector => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  ...extra,
});
const template = deployment(1, { labels: { app: 'web' } });

describe('specificityOf', () => {
  const rows: { name: string; selector: ResourceSelector; namespace?: string; expected: number }[] = [
    { name: 'all of the kind', selector: selector(), expected: 1 },
    { name: 'by labels', selector: selector({ labelSelector: { matchLabels: { app: 'web' } } }), expected: 2 },
    { name: 'other labels', selector: selector({ labelSelector: { matchLabels: { app: 'db' } } }), expected: 0 },
    { name: 'by name', selector: selector({ name: 'web' }), expected: 3 },
    {
      name: 'a name wins over labels',
      selector: selector({ name: 'web', labelSelector: { matchLabels: { app: 'x' } } }),
      expected: 3,
    },
    { name: 'another name', selector: selector({ name: 'db' }), expected: 0 },
    { name: 'another kind', selector: selector({ kind: 'StatefulSet' }), expected: 0 },
    { name: 'another version', selector: selector({ apiVersion: 'apps/v1beta1' }), expected: 0 },
    { name: 'another namespace', selector: selector({ namespace: 'prod' }), expected: 0 },
    { name: 'a policy of another namespace', selector: selector({ name: 'web' }), namespace: 'prod', expected: 0 },
    {
      name: 'an unreadable selector',
      selector: selector({ labelSelector: { matchLabels: { 'a b': '' } } }),
      expected: 0,
    },
  ];
  for (const row of rows)
    test(row.name, () => assert.equal(specificityOf(row.selector, template, row.namespace), row.expected));
});

describe('choosePolicy', () => {
  const policy = (name: string, selectors: ResourceSelector[], priority?: number): PropagationPolicy => ({
    apiVersion: 'asterism.dev/v1alpha1',
    kind: 'PropagationPolicy',
    metadata: { name, namespace: 'demo' },
    spec: { resourceSelectors: selectors, ...(priority === undefined ? {} : { priority }) },
  });
  const clusterPolicy = (name: string, selectors: ResourceSelector[], priority?: number): ClusterPropagationPolicy => ({
    ...policy(name, selectors, priority),
    kind: 'ClusterPropagationPolicy',
    metadata: { name },
  });
  const all = [selector()];
  const rows: {
    name: string;
    policies: PropagationPolicy[];
    clusterPolicies?: ClusterPropagationPolicy[];
    expected?: string;
  }[] = [
    { name: 'none selects it', policies: [policy('a', [selector({ name: 'db' })])] },
    {
      name: 'the namespace before the cluster',
      policies: [policy('z', all)],
      clusterPolicies: [clusterPolicy('a', all, 9)],
      expected: 'z',
    },
    { name: 'the cluster when no other', policies: [], clusterPolicies: [clusterPolicy('a', all)], expected: 'a' },
    { name: 'priority', policies: [policy('a', [selector({ name: 'web' })]), policy('b', all, 1)], expected: 'b' },
    { name: 'a negative priority is last', policies: [policy('a', all, -1), policy('b', all)], expected: 'b' },
    { name: 'precision', policies: [policy('a', all), policy('b', [selector({ name: 'web' })])], expected: 'b' },
    {
      name: 'the most precise of its selectors counts',
      policies: [policy('a', all), policy('b', [selector(), selector({ name: 'web' })])],
      expected: 'b',
    },
    { name: 'name', policies: [policy('b', all), policy('a', all)], expected: 'a' },
    {
      name: 'precision, across versions',
      policies: [policy('a', all), policy('b', [selector({ apiVersion: 'apps/v2', name: 'web' })])],
      expected: 'b',
    },
    { name: 'another group is another kind', policies: [policy('a', [selector({ apiVersion: 'batch/v1' })])] },
  ];
  for (const { name, policies, clusterPolicies = [], expected } of rows) {
    test(name, () =>
      assert.equal(choosePolicy(template, { namespaced: policies, cluster: clusterPolicies })?.metadata.name, expected),
    );
  }

  describe('by which version', () => {
    const naming = (...selectors: Partial<ResourceSelector>[]) => policy('a', selectors.map(selector));
    const serves = ({ apiVersion }: { apiVersion: string }) => apiVersion !== 'apps/v1beta1';
    test('that of the most precise selector, the first of several', () => {
      const named = naming({ apiVersion: 'apps/v2' }, { name: 'web' }, { apiVersion: 'apps/v2', name: 'web' });
      assert.equal(selectionBy(named, template, serves)?.apiVersion, 'apps/v1');
      assert.equal(selectionBy(naming({ apiVersion: 'apps/v2' }, {}), template, serves)?.apiVersion, 'apps/v2');
    });
    test('none that is not served', () => {
      const old = naming({ apiVersion: 'apps/v1beta1', name: 'web' });
      assert.equal(selectionBy(old, template, serves), undefined);
      assert.equal(choosePolicy(template, { namespaced: [old], cluster: [], serves }), undefined);
    });
  });

  describe('that another policy has placed', () => {
    const named = (
      name: string,
      extra: Partial<PropagationPolicy['spec']> = {},
      selectors = all,
    ): PropagationPolicy => {
      const { metadata, spec, ...rest } = policy(name, selectors);
      return { ...rest, metadata: { ...metadata, uid: `uid-of-${name}` }, spec: { ...spec, ...extra } };
    };
    const clusterNamed = (name: string, extra: Partial<PropagationPolicy['spec']> = {}): ClusterPropagationPolicy => ({
      ...named(name, extra),
      kind: 'ClusterPropagationPolicy',
      metadata: { name, uid: `uid-of-${name}` },
    });
    const referenceTo = ({ apiVersion, kind, metadata }: PropagationPolicy | ClusterPropagationPolicy) => {
      const { name = '', namespace, uid = '' } = metadata;
      return { apiVersion, kind, name, uid, ...(namespace ? { namespace } : {}) };
    };
    const holder = named('holder', { priority: 1 });
    const clusterHolder = clusterNamed('holder', { priority: 9 });
    const always = { preemption: 'Always' as const };
    const cases: {
      name: string;
      held?: PropagationPolicy | ClusterPropagationPolicy;
      namespaced?: PropagationPolicy[];
      cluster?: ClusterPropagationPolicy[];
      expected: string;
    }[] = [
      {
        name: 'it stays, though another goes before it',
        namespaced: [holder, named('a', { priority: 5 })],
        expected: 'holder',
      },
      {
        name: 'it stays with a policy of the cluster, though there is one of the namespace',
        held: clusterHolder,
        namespaced: [named('a')],
        cluster: [clusterHolder],
        expected: 'holder',
      },
      {
        name: 'a higher priority that preempts takes it over',
        namespaced: [holder, named('a', { ...always, priority: 2 })],
        expected: 'a',
      },
      {
        name: 'an equal priority does not',
        namespaced: [holder, named('a', { ...always, priority: 1 }, [selector({ name: 'web' })])],
        expected: 'holder',
      },
      {
        name: 'of those that may, the highest takes it',
        namespaced: [holder, named('a', { ...always, priority: 2 }), named('b', { ...always, priority: 3 })],
        expected: 'b',
      },
      {
        name: 'the highest of all does not count where it does not preempt',
        namespaced: [holder, named('a', { ...always, priority: 2 }), named('b', { priority: 3 })],
        expected: 'a',
      },
      {
        name: 'a policy of the namespace takes it from one of the cluster, whatever their priorities',
        held: clusterHolder,
        namespaced: [named('a', always)],
        cluster: [clusterHolder],
        expected: 'a',
      },
      {
        name: 'a policy of the cluster never takes it from one of the namespace',
        namespaced: [holder],
        cluster: [clusterNamed('a', { ...always, priority: 9 })],
        expected: 'holder',
      },
      {
        name: 'a higher policy of the cluster takes it from another',
        held: clusterHolder,
        cluster: [clusterHolder, clusterNamed('a', { ...always, priority: 10 })],
        expected: 'a',
      },
      {
        name: 'one that does not select it takes nothing',
        namespaced: [holder, named('a', { ...always, priority: 2 }, [selector({ name: 'db' })])],
        expected: 'holder',
      },
      {
        name: 'it goes to the best where its own does not select it any more',
        held: named('holder'),
        namespaced: [named('holder', {}, [selector({ name: 'db' })]), named('a'), named('b', { priority: 1 })],
        expected: 'b',
      },
      { name: 'it goes to the best where its own is gone', namespaced: [named('z')], expected: 'z' },
      {
        name: 'one of the same name that was made anew is another',
        held: { ...holder, metadata: { ...holder.metadata, uid: 'of-before' } },
        namespaced: [holder, named('a', { priority: 5 })],
        expected: 'a',
      },
    ];
    for (const { name, held = holder, namespaced = [], cluster = [], expected } of cases) {
      test(name, () => {
        const chosen = choosePolicy(template, { namespaced, cluster }, referenceTo(held));
        assert.equal(chosen?.metadata.name, expected);
      });
    }
  });
});
