import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Environment } from './environment.ts';
import { judge } from './judge.ts';
import { renderMissed, renderReport } from './render-report.ts';
import type { Report } from './report.ts';

const environment: Environment = {
  date: '2026-01-02T03:04:05.000Z',
  node: 'v24.0.0',
  cpu: 'a CPU',
  cores: 2,
  memoryGiB: 8,
  system: 'linux 6 x64',
  loadAverage: [0.1, 0.2, 0.3],
  commit: 'abc1234',
};

const report: Report = {
  format: 1,
  bench: 'apiserver',
  summary: 'ours and theirs',
  environment,
  calibration: [{ name: 'fsync of 4 KiB', opsPerSecond: 1234.5, msEach: 0.81 }],
  figures: [
    judge(
      'get',
      { name: 'GET: CPU', unit: 'ms', baseline: { name: 'theirs' }, goal: { of: 'ratio', atMost: 0.5 } },
      { values: [51.23], baselines: [102.46] },
    ),
    judge('list', { name: 'LIST', unit: 's', goal: { of: 'value', atMost: 1 } }, { values: [2500] }),
    judge('watch', { name: 'watch', unit: 'ms', baseline: { name: 'theirs' } }, { notMeasured: 'no etcd' }),
    judge('rss', { name: 'memory', unit: 'MiB', baseline: { name: 'them', quoted: 20 } }, { values: [10] }),
  ],
  details: [{ title: 'side', columns: ['what', 'each'], rows: [['a', 0.12345]] }],
  seconds: 12.4,
};

test('renderReport: plain, one aligned line for each figure', () => {
  assert.equal(
    renderReport(report, 'plain'),
    `apiserver, 2026-01-02T03:04:05.000Z, commit abc1234, 12 s
Node v24.0.0 on a CPU, 2 cores, 8 GiB, linux 6 x64; load average at the start 0.1, 0.2, 0.3
calibration: fsync of 4 KiB: 1,235 ops/s, 0.81 ms each

figure           value  unit  baseline       its value  ratio  goal         holds
GET: CPU          51.2  ms    theirs               102  0.5 ×  ratio ≤ 0.5  yes
LIST             2,500  s     –                      –      –  ≤ 1          no
watch     not measured  ms    theirs                 –      –  –            not measured
memory              10  MiB   them (quoted)         20  0.5 ×  –            –

not measured: watch: no etcd

side
what   each
a     0.123
`,
  );
});

test('renderReport: as markdown', () => {
  const text = renderReport(report, 'markdown');
  assert.match(text, /^\| GET: CPU \| +51\.2 \| ms +\| theirs +\| +102 \| 0\.5 × \| ratio ≤ 0\.5 \| yes +\|$/m);
  assert.match(text, /^\| -+ \| -+: \|/m);
  assert.match(text, /^- not measured: watch: no etcd$/m);
  assert.match(text, /^\*\*side\*\*\n\n\| what/m);
});

test('renderReport: a bench that failed says so', () => {
  assert.match(renderReport({ ...report, failure: 'etcd ended' }, 'plain'), /^the bench failed: etcd ended$/m);
});

test('renderMissed: each with what it was and should be, or why nobody knows', () => {
  assert.equal(renderMissed(report.figures), 'LIST: 2,500, and the goal is ≤ 1\nwatch: not measured: no etcd');
});
