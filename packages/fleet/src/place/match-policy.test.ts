import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ClusterPropagationPolicy, PropagationPolicy, ResourceSelector } from '../api/index.ts';
import { choosePolicy, selectorFaults, specificityOf } from './match-policy.ts';
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
  ];
  for (const { name, policies, clusterPolicies = [], expected } of rows) {
    test(name, () =>
      assert.equal(choosePolicy(template, { namespaced: policies, cluster: clusterPolicies })?.metadata.name, expected),
    );
  }

  test('faults of selectors are told with their place', () => {
    const faults = selectorFaults([selector(), selector({ labelSelector: { matchLabels: { 'a b': '' } } })]);
    assert.equal(faults.length, 1);
    assert.match(faults[0] ?? '', /^resourceSelectors\[1\]\.labelSelector: key: Invalid value: "a b"/);
  });
});
