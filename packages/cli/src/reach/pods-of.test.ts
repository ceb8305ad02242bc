import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '@asterism/machinery';
import { chooseContainer } from './choose-container.ts';
import { sortPods } from './pods-of.ts';

interface Facts {
  node?: boolean;
  phase?: string;
  readySince?: string;
  restarts?: number;
  made?: string;
}

const OLD = '2026-01-01T00:00:00Z';
const NEW = '2026-02-01T00:00:00Z';

function pod(name: string, { node = true, phase = 'Running', readySince, restarts = 0, made = OLD }: Facts): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, creationTimestamp: made },
    spec: { containers: [{ name: 'app' }], ...(node ? { nodeName: 'n' } : {}) },
    status: {
      phase,
      conditions: readySince ? [{ type: 'Ready', status: 'True', lastTransitionTime: readySince }] : [],
      containerStatuses: [{ name: 'app', image: '', imageID: '', ready: true, restartCount: restarts }],
    },
  } as Pod;
}

const better: [why: string, first: Facts, second: Facts][] = [
  ['has a node', {}, { node: false }],
  ['runs', { phase: 'Running' }, { phase: 'Pending' }],
  ['is not over', { phase: 'Pending' }, { phase: 'Succeeded' }],
  ['is ready', { readySince: NEW }, {}],
  ['has been ready for longer', { readySince: OLD }, { readySince: NEW }],
  ['is older', { made: OLD }, { made: NEW }],
];
for (const [why, first, second] of better) {
  test(`the pod comes first that ${why}`, () => {
    const [a, b] = [pod('z', first), pod('a', second)];
    for (const order of ['active', 'telling'] as const) {
      assert.deepEqual(sortPods([b, a], order), [a, b]);
      assert.deepEqual(sortPods([a, b], order), [a, b]);
    }
  });
}

test('a command runs where nothing was restarted, a log is read where most was', () => {
  const [calm, wild] = [pod('a', {}), pod('b', { restarts: 3 })];
  assert.deepEqual(sortPods([wild, calm], 'active'), [calm, wild]);
  assert.deepEqual(sortPods([calm, wild], 'telling'), [wild, calm]);
});

test('of equals the first by name', () => {
  const [a, b] = [pod('a', {}), pod('b', {})];
  assert.deepEqual(sortPods([b, a], 'active'), [a, b]);
});

const spec = { containers: [{ name: 'app' }, { name: 'side' }], initContainers: [{ name: 'first' }] };
const two = { metadata: { name: 'web' }, spec } as unknown as Pod;

const choices: [
  name: string,
  annotation: string | undefined,
  named: string | undefined,
  chosen: string,
  noted: boolean,
][] = [
  ['that is named', 'side', 'first', 'first', false],
  ['of the annotation', 'side', undefined, 'side', false],
  ['that comes first, where the annotation names none', 'gone', undefined, 'app', true],
  ['that comes first', undefined, undefined, 'app', true],
];
for (const [name, annotation, named, chosen, noted] of choices) {
  test(`the container ${name}`, () => {
    const notes: string[] = [];
    const annotations = annotation === undefined ? {} : { 'kubectl.kubernetes.io/default-container': annotation };
    const given = { ...two, metadata: { name: 'web', annotations } } as Pod;
    assert.equal(
      chooseContainer(given, named, (line) => notes.push(line)),
      chosen,
    );
    assert.deepEqual(notes, noted ? ['Defaulted container "app" out of: app, side, first'] : []);
  });
}

test('a container that is not there', () => {
  assert.throws(() => chooseContainer(two, 'x', () => {}), /pod web has no container "x": it has app, side, first/);
});
