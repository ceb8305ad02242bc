import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ClusterPropagationPolicy, ObjectReference, PropagationPolicy } from '../api/index.ts';
import { passedOver } from './explain-choice.ts';
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
  ];
  for (const { name, policies, holder, expected } of rows) {
    test(name, () => {
      const template = deployment(1, { labels: { app: 'web' } });
      const all = { namespaced: [], cluster: [], ...policies };
      const chosen = choosePolicy(template, all, holder);
      assert.ok(chosen);
      const others = passedOver(template, chosen, all).map((each) => `${each.policy.metadata.name} ${each.why}`);
      assert.deepEqual([`chosen ${chosen.metadata.name}`, ...others], expected);
    });
  }
});
