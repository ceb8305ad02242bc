import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Bench, defineBench } from './bench.ts';
import type { Environment } from './environment.ts';
import { runBench } from './run-bench.ts';

const environment: Environment = {
  date: '',
  node: '',
  cpu: '',
  cores: 1,
  memoryGiB: 1,
  system: '',
  loadAverage: [],
};

const run = (bench: Bench, signal = new AbortController().signal) =>
  runBench(bench, { environment, calibrate: () => [], progress: () => {}, signal });

const base = {
  name: 'a',
  summary: '',
  minutes: 1,
  figures: {
    first: { name: 'first', unit: 'ms', goal: { of: 'value', atMost: 1 } },
    second: { name: 'second', unit: 'ms', goal: { of: 'value', atMost: 1 } },
  },
} as const;

test('runBench: every figure that was declared is in the report, in order, also one that was not reported', async () => {
  const report = await run(
    defineBench({
      ...base,
      run(context) {
        context.report('second', { values: [1] });
        context.detail({ title: 't', columns: ['c'], rows: [['r']] });
        return Promise.resolve();
      },
    }),
  );
  assert.deepEqual(
    report.figures.map(({ id, holds, notMeasured }) => [id, holds, notMeasured]),
    [
      ['first', 'not measured', 'the bench ended before it came to it'],
      ['second', 'yes', undefined],
    ],
  );
  assert.equal(report.details.length, 1);
  assert.equal(report.failure, undefined);
});

test('runBench: what was measured before a failure stays, the rest says what failed', async () => {
  const report = await run(
    defineBench({
      ...base,
      run(context) {
        context.report('first', { values: [2] });
        return Promise.reject(new Error('etcd ended'));
      },
    }),
  );
  assert.equal(report.failure, 'etcd ended');
  assert.deepEqual(
    report.figures.map(({ holds, notMeasured }) => [holds, notMeasured]),
    [
      ['no', undefined],
      ['not measured', 'etcd ended'],
    ],
  );
});

test('runBench: stopped from outside, and after its time', { timeout: 5_000 }, async () => {
  const waiting = (minutes: number) =>
    defineBench({
      ...base,
      minutes,
      run: ({ signal }) =>
        new Promise<void>((_, reject) => {
          signal.addEventListener('abort', () => reject(new Error('gone')), { once: true });
        }),
    });
  const abort = new AbortController();
  const stopped = run(waiting(1), abort.signal);
  abort.abort(new Error('SIGINT'));
  assert.equal((await stopped).failure, 'stopped: SIGINT');
  // The time limit alone keeps no process alive; a running bench does.
  const alive = setInterval(() => {}, 1_000);
  assert.match((await run(waiting(0.0005))).failure ?? '', /^stopped: .*timeout/);
  clearInterval(alive);
});
