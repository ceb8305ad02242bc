import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FigureSpec, Measurement } from './bench.ts';
import { judge, missed } from './judge.ts';

const ratio: FigureSpec = { name: 'a', unit: 'ms', baseline: { name: 'theirs' }, goal: { of: 'ratio', atMost: 0.5 } };
const rate: FigureSpec = { ...ratio, goal: { of: 'ratio', atLeast: 2 } };
const absolute: FigureSpec = { name: 'a', unit: 'writes', goal: { of: 'value', atMost: 8 } };
const quoted: FigureSpec = { ...absolute, baseline: { name: 'theirs', quoted: 25 } };
const info: FigureSpec = { name: 'a', unit: 'MiB' };

const cases: [name: string, spec: FigureSpec, measurement: Measurement | undefined, holds: string, ratio?: number][] = [
  ['a ratio at its goal holds', ratio, { values: [5], baselines: [10] }, 'yes', 0.5],
  ['a ratio above it does not', ratio, { values: [6], baselines: [10] }, 'no', 0.6],
  ['a ratio that has to be large', rate, { values: [30], baselines: [10] }, 'yes', 3],
  ['a ratio that has to be large and is not', rate, { values: [10], baselines: [10] }, 'no', 1],
  ['the median of the rounds counts', ratio, { values: [100, 1, 2], baselines: [8, 1, 900] }, 'yes', 0.25],
  ['an absolute goal', absolute, { values: [8] }, 'yes'],
  ['an absolute goal missed', absolute, { values: [8.1] }, 'no'],
  ['a quoted baseline needs no measuring', quoted, { values: [5] }, 'yes', 0.2],
  ['a baseline of zero', ratio, { values: [1], baselines: [0] }, 'no', Number.POSITIVE_INFINITY],
  ['without a goal there is nothing to hold', info, { values: [1] }, 'no goal'],
  ['the bench never came to it', absolute, undefined, 'not measured'],
  ['no baseline, and it says why', ratio, { notMeasured: 'no etcd', values: [5] }, 'not measured'],
  ['no baseline, and nobody said why', ratio, { values: [5] }, 'not measured'],
  ['no value', absolute, { values: [] }, 'not measured'],
  ['a value that is no number', absolute, { values: [Number.NaN] }, 'not measured'],
  ['no value and no goal is not measured either', info, { notMeasured: 'stopped' }, 'not measured'],
];

for (const [name, spec, measurement, holds, expected] of cases) {
  test(`judge: ${name}`, () => {
    const finding = judge('id', spec, measurement);
    assert.equal(finding.holds, holds);
    assert.equal(finding.ratio, expected);
    assert.equal(missed([finding]).length, holds === 'no' || holds === 'not measured' ? 1 : 0);
    assert.equal(finding.notMeasured !== undefined, holds === 'not measured');
  });
}

test('judge: the value stands beside the reason why there is nothing to compare with', () => {
  const finding = judge('id', ratio, { notMeasured: 'no etcd: set KUBEBUILDER_ASSETS', values: [5, 7, 6] });
  assert.equal(finding.value, 6);
  assert.equal(finding.notMeasured, 'no etcd: set KUBEBUILDER_ASSETS');
});
