import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import type { KubeObject } from '@asterism/machinery';
import type { OverridePolicy, Overriders, ResourceBinding } from '../../api/index.ts';
import { cluster } from '../../place/testing/build.ts';
import { OverrideTexts } from '../override/override-texts.ts';
import { TextThread } from '../override/text-thread.ts';
import { LoopTurns } from '../pace/loop-turns.ts';
import { createRenderer } from './render-manifest.ts';

const CLUSTERS = Array.from({ length: 5 }, (_, index) => `c${index}`);
const metadata = { name: 't', namespace: 'demo', uid: 'u' };
const binding: ResourceBinding = {
  apiVersion: 'asterism.dev/v1alpha1',
  kind: 'ResourceBinding',
  metadata: { name: 'b', namespace: 'demo' },
  spec: { resource: { apiVersion: 'v1', kind: 'X', name: 't' }, clusters: CLUSTERS.map((name) => ({ name })) },
};
const policyOf = (overriders: Overriders): OverridePolicy => ({
  apiVersion: 'asterism.dev/v1alpha1',
  kind: 'OverridePolicy',
  metadata: { name: 'p', namespace: 'demo' },
  spec: { overrideRules: [{ overriders }] },
});

const configMap = (data: Record<string, string>): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata,
  data,
});
const yamlText = Array.from(
  { length: 28_000 },
  (_, key) => `key${key}:\n  name: value-${key} # why\n  list: [1, 2, ${key}]\n`,
).join('');
const jsonText = JSON.stringify(
  Object.fromEntries(
    Array.from({ length: 28_000 }, (_, key) => [`key${key}`, { name: `value-${key}`, list: [1, 2, key] }]),
  ),
);
const numbers = {
  apiVersion: 'example.com/v1',
  kind: 'X',
  metadata,
  spec: { list: Array.from({ length: 700_000 }, () => 1) },
};
const replaceNames = (count: number) =>
  Array.from({ length: count }, (_, key) => ({
    subPath: `/key${key}/name`,
    operator: 'replace' as const,
    value: 'x',
  }));

const ROWS: [name: string, template: KubeObject, overriders: Overriders][] = [
  ['a text of YAML', configMap({ f: yamlText }), { fieldOverrider: [{ fieldPath: '/data/f', yaml: replaceNames(1) }] }],
  [
    'a text of JSON, by a thousand operations',
    configMap({ f: jsonText }),
    { fieldOverrider: [{ fieldPath: '/data/f', json: replaceNames(1_000) }] },
  ],
  [
    'a list, by a thousand operations',
    numbers,
    {
      plaintext: Array.from({ length: 1_000 }, () => ({
        path: '/spec/list/0',
        operator: 'replace' as const,
        value: 2,
      })),
    },
  ],
  [
    'a patch that is a large text',
    configMap({ f: 'x' }),
    { mergePatch: [JSON.stringify({ data: { g: 'y'.repeat(1_400_000) } })] },
  ],
  ['a large patch', configMap({ f: 'x' }), { mergePatch: [{ data: { g: 'y'.repeat(1_400_000) } }] }],
];

/** The longest that one turn of the loop computed, ms of CPU. */
async function longestTurn(work: () => Promise<unknown>): Promise<number> {
  let [longest, last, isOver] = [0, cpuMs(), false];
  const watch = (): void => {
    const now = cpuMs();
    longest = Math.max(longest, now - last);
    last = now;
    if (!isOver) setImmediate(watch);
  };
  setImmediate(watch);
  await turn();
  await work();
  await turn();
  isOver = true;
  return longest;
}

function cpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

describe('a template of 1.5 MB is rendered without holding the loop', () => {
  const thread = new TextThread();
  before(() => thread.perform({ read: 'a: 1' }));
  after(() => thread.stop());

  for (const [name, template, overriders] of ROWS) {
    test(name, async () => {
      const surroundings = { texts: new OverrideTexts(thread), pace: new LoopTurns() };
      const render = createRenderer(template, binding, [policyOf(overriders)], surroundings);
      const longest = await longestTurn(async () => {
        const rendered = await Promise.all(CLUSTERS.map((each) => render(cluster(each))));
        assert.deepEqual(
          rendered.flatMap(({ unapplied }) => unapplied),
          [],
        );
        assert.notDeepEqual(rendered[4]?.objects, [template]);
      });
      assert.ok(longest < 50, `one turn of the loop took ${longest} ms of CPU`);
    });
  }
});
