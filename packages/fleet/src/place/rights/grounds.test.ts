import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { placeTemplate } from '../place-template.ts';
import { cluster, deployment } from '../testing/build.ts';
import { groundsOf } from './grounds.ts';
import type { Judgement } from './placing-rights.ts';

const clusters = ['ant', 'bee', 'cat'].map((name) => cluster(name));
const template = deployment(1);
const policy = {
  apiVersion: 'asterism.dev/v1alpha1' as const,
  kind: 'PropagationPolicy' as const,
  metadata: { name: 'web', namespace: 'demo', uid: 'uid-of-policy' },
  spec: { resourceSelectors: [{ apiVersion: 'apps/v1', kind: 'Deployment' }] },
};
const input = { template, policy, parents: [], clusters, last: undefined };
const judged = (refused: string[], more: Partial<Judgement> = {}): Judgement => ({
  authority: 'user "tom"',
  recorded: true,
  unread: undefined,
  refusals: new Map(refused.map((name) => [name, `not in ${name}`])),
  ...more,
});
const names = ({ clusters: chosen = [] }: ReturnType<typeof placeTemplate>) => chosen.map(({ name }) => name).join();

describe('a decision with the rights of an author', () => {
  const everywhere = placeTemplate(input);

  test('a right that is lost removes the template there, also where nothing else is decided', () => {
    const placed = { ...everywhere, authority: 'user "tom"' };
    const grounds = groundsOf(judged(['bee']), placed, []);
    assert.equal(names(placeTemplate({ ...input, last: placed, grounds })), 'ant,cat');
    const suspended = { ...policy, spec: { ...policy.spec, suspension: { scheduling: true } } };
    assert.equal(names(placeTemplate({ ...input, policy: suspended, last: placed, grounds })), 'ant,cat');
  });

  test('without any right nothing stays', () => {
    const placed = { ...everywhere, authority: 'user "tom"' };
    const unread = judged(['ant', 'bee', 'cat'], { unread: 'may not read it' });
    const spec = placeTemplate({ ...input, last: placed, grounds: groundsOf(unread, placed, []) });
    assert.deepEqual([names(spec), spec.unschedulable], ['', { reason: 'NotPermitted', message: 'may not read it' }]);
    const nowhere = placeTemplate({
      ...input,
      last: placed,
      grounds: groundsOf(judged(['ant', 'bee', 'cat']), placed, []),
    });
    assert.deepEqual([names(nowhere), nowhere.unschedulable?.reason], ['', 'NoClusterFit']);
  });

  test('what a release without rights has placed stays, and goes nowhere else, while nobody is known as its author', () => {
    const older = { ...everywhere, clusters: [{ name: 'ant', replicas: 1 }] };
    const unknown = judged(['ant', 'bee', 'cat'], { recorded: false });
    for (const judgement of [unknown, { ...unknown, unread: 'may not read it' }]) {
      const spec = placeTemplate({ ...input, last: older, grounds: groundsOf(judgement, older, []) });
      assert.deepEqual([names(spec), spec.authority], ['ant', undefined]);
    }
    const known = placeTemplate({
      ...input,
      last: older,
      grounds: groundsOf(judged(['ant', 'bee', 'cat']), older, []),
    });
    assert.deepEqual([names(known), known.authority], ['', 'user "tom"']);
    const permitted = groundsOf(judged([], { recorded: false, authority: 'all' }), older, []);
    assert.equal(placeTemplate({ ...input, last: older, grounds: permitted }).authority, 'all');
  });

  test('a new template has no such grace', () => {
    const grounds = groundsOf(judged(['ant', 'bee', 'cat'], { recorded: false }), undefined, []);
    assert.equal(names(placeTemplate({ ...input, grounds })), '');
  });
});
