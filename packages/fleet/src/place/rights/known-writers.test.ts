import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Policy } from '../match-policy.ts';
import { KnownWriters } from './known-writers.ts';
import type { Rbac } from './policy-writers.ts';
import { formatSubject } from './subject.ts';

const { signal } = new AbortController();
const policyIn = (namespace: string): Policy =>
  ({ kind: 'PropagationPolicy', metadata: { namespace, name: 'p' }, spec: { resourceSelectors: [] } }) as never;

/** Roles by which these users may write policies in every namespace, and how often they were read. */
function writersOf(users: string[]) {
  const reads: PromiseWithResolvers<void>[] = [];
  const rbac = (): Rbac => {
    const metadata = { name: 'r' };
    const subjects = users.map((name) => ({ kind: 'User', name, apiGroup: 'rbac.authorization.k8s.io' }));
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'r' };
    const rules = [{ apiGroups: ['asterism.dev'], resources: ['*'], verbs: ['create'] }];
    return {
      clusterRole: () => ({ metadata, rules }),
      role: () => undefined,
      clusterRoleBindings: () => [{ metadata, roleRef, subjects: [...subjects] }],
      roleBindings: () => [],
    };
  };
  const writers = new KnownWriters(async () => {
    const present = rbac();
    const read = Promise.withResolvers<void>();
    reads.push(read);
    await read.promise;
    return present;
  });
  const of = async (policy: Policy): Promise<string[]> => (await writers.of(policy, signal)).map(formatSubject);
  return { writers, reads, of };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

describe('writers of policies', () => {
  test('a policy that comes while roles are read waits for another read, which all that come meanwhile share', async () => {
    const users = ['ann'];
    const { of, reads } = writersOf(users);
    const first = of(policyIn('a'));
    await turn();
    users.push('bob');
    const later = [of(policyIn('a')), of(policyIn('b'))];
    await turn();
    assert.equal(reads.length, 1);
    reads[0]?.resolve();
    assert.deepEqual(await first, ['user "ann"']);
    await turn();
    reads[1]?.resolve();
    assert.deepEqual(
      await Promise.all(later),
      Array.from({ length: 2 }, () => ['user "ann"', 'user "bob"']),
    );
    assert.equal(reads.length, 2);
  });

  test('a policy that was judged before costs no read; that others may write it now is found by a refresh', async () => {
    const users = ['ann'];
    const { of, reads, writers } = writersOf(users);
    const policy = policyIn('a');
    const answer = of(policy);
    await turn();
    reads[0]?.resolve();
    await answer;
    await of(policy);
    assert.equal(reads.length, 1);
    users.push('bob');
    const refreshed = writers.refresh(signal);
    await turn();
    reads[1]?.resolve();
    assert.equal(await refreshed, true);
    assert.deepEqual(await of(policy), ['user "ann"', 'user "bob"']);
  });

  test('where nobody was asked for, a refresh reads nothing', async () => {
    const { reads, writers } = writersOf([]);
    assert.equal(await writers.refresh(signal), false);
    assert.equal(reads.length, 0);
  });
});
