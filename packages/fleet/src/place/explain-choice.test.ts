import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ClusterPropagationPolicy, ObjectReference, PropagationPolicy } from '../api/index.ts';
import { passedOver, unableToSelect } from './explain-choice.ts';
import { choosePolicy, type Policies } from './match-policy.ts';
import { deployment } from './testing/build.ts';

type Spec = Partial<PropagationPolicy['spec']>;
const kind = { apiVersion: 'apps/v1', kind: 'Deployment' };

const policy = (name: string, spec: Spec = {}): PropagationPolicy => ({
  apiVersion: 'asterism.dev/v1alpha1',
  kind: 'PropagationPolicy',
  metadata: { name, namespace: 'demo', uid: name },
  spec: { resourceSelectors: [kind], ...spec },
});
const ofCluster = (name: string, spec: Spec = {}): ClusterPropagationPolicy => ({
  ...policy(name, spec),
  kind: 'ClusterPropagationPolicy',
  metadata: { name, uid: name },
});
const held = (by: string, kind = 'PropagationPolicy'): ObjectReference => ({
  apiVersion: 'asterism.dev/v1alpha1',
  kind,
  name: by,
  uid: by,
  ...(kind === 'PropagationPolicy' ? { namespace: 'demo' } : {}),
});
const unreadable: Spec = { resourceSelectors: [{ ...kind, labelSelector: { matchLabels: { 'a b': '' } } }] };
const byName: Spec = { resourceSelectors: [{ ...kind, name: 'web' }] };
const byLabels: Spec = { resourceSelectors: [{ ...kind, labelSelector: { matchLabels: { app: 'web' } } }] };

describe('passedOver', () => {
  const rows: { name: string; policies: Partial<Policies>; holder?: ObjectReference; expected: string[] }[] = [
    { name: 'nobody else selects it', policies: { namespaced: [policy('a')] }, expected: ['chosen a'] },
    {
      name: 'the namespace before the cluster',
      policies: { namespaced: [policy('b')], cluster: [ofCluster('a', { priority: 9 })] },
      expected: ['chosen b', 'a is of the cluster, and one of the namespace goes before'],
    },
    {
      name: 'priority before precision',
      policies: { namespaced: [policy('a', byName), policy('b', { priority: 1 })] },
      expected: ['chosen b', 'a has priority 0, lower than 1'],
    },
    {
      name: 'precision before names',
      policies: { namespaced: [policy('a'), policy('b', byLabels), policy('c', byName)] },
      expected: ['chosen c', 'a selects all of the kind, the other by name', 'b selects by labels, the other by name'],
    },
    {
      name: 'the first name',
      policies: { namespaced: [policy('b'), policy('a')] },
      expected: ['chosen a', 'b has the later name'],
    },
    {
      name: 'whoever holds it keeps it',
      policies: { namespaced: [policy('z'), policy('a'), policy('b', { priority: 2 }), policy('c', byName)] },
      holder: held('z'),
      expected: [
        'chosen z',
        'a does not preempt, and another has placed the template already',
        'b does not preempt, and another has placed the template already',
        'c does not preempt, and another has placed the template already',
      ],
    },
    {
      name: 'one that preempts needs a higher priority',
      policies: { namespaced: [policy('z'), policy('a', { preemption: 'Always' })] },
      holder: held('z'),
      expected: ['chosen z', 'a preempts only policies of lower priority, and another has placed the template already'],
    },
    {
      name: 'a policy of the cluster holds it against one of the namespace',
      policies: { namespaced: [policy('a')], cluster: [ofCluster('z')] },
      holder: held('z', 'ClusterPropagationPolicy'),
      expected: ['chosen z', 'a does not preempt, and another has placed the template already'],
    },
    {
      name: 'who cannot select it is told too',
      policies: { namespaced: [policy('a', unreadable), policy('z')] },
      expected: [
        'chosen z',
        'a selects nothing by spec.resourceSelectors[0].labelSelector: Invalid value: {"matchLabels":{"a b":""}}: ',
      ],
    },
  ];
  for (const { name, policies, holder, expected } of rows) {
    test(name, () => {
      const template = deployment(1, { labels: { app: 'web' } });
      const all = { namespaced: [], cluster: [], ...policies };
      const chosen = choosePolicy(template, all, holder);
      assert.ok(chosen);
      const others = passedOver(template, chosen, all).map((each) => `${each.policy.metadata.name} ${each.why}`);
      const told = [`chosen ${chosen.metadata.name}`, ...others].map((text) => text.replace(/key: .*/, ''));
      assert.deepEqual(told, expected);
    });
  }
});

describe('unableToSelect', () => {
  const elsewhere = (selector: object, namespace: string) => {
    const { metadata, ...rest } = policy('p', { resourceSelectors: [{ ...kind, ...selector }] });
    return { ...rest, metadata: { ...metadata, namespace } };
  };
  const rows: { name: string; policies: Partial<Policies>; expected: number }[] = [
    {
      name: 'meant from another namespace',
      policies: { namespaced: [elsewhere({ namespace: 'demo' }, 'ops')] },
      expected: 1,
    },
    {
      name: 'in its namespace, for another',
      policies: { namespaced: [elsewhere({ namespace: 'ops' }, 'demo')] },
      expected: 1,
    },
    { name: 'of others, for others', policies: { namespaced: [elsewhere({ namespace: 'test' }, 'ops')] }, expected: 0 },
    {
      name: 'of another name',
      policies: { namespaced: [elsewhere({ namespace: 'demo', name: 'db' }, 'ops')] },
      expected: 0,
    },
    {
      name: 'of another kind',
      policies: { namespaced: [elsewhere({ namespace: 'demo', kind: 'StatefulSet' }, 'ops')] },
      expected: 0,
    },
    { name: 'everywhere, by labels', policies: { cluster: [ofCluster('p', unreadable)] }, expected: 1 },
    { name: 'soundly', policies: { namespaced: [policy('p')] }, expected: 0 },
  ];
  for (const { name, policies, expected } of rows) {
    test(name, () => {
      assert.equal(unableToSelect(deployment(1), { namespaced: [], cluster: [], ...policies }).length, expected);
    });
  }
});
