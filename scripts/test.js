// `npm test` (unit), `npm run test:e2e`, `npm run test:soak`: finds the test files and hands them to node's own test runner.
// Words after `--` narrow it down to the files whose path contains one of them.
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { startsNothing } from './starts-nothing.js';

const SLOWEST = 10;

const suites = {
  unit: {
    patterns: [
      'test/unit/**/*.test.ts',
      'test/demo/**/*.test.ts',
      'test/conformance/**/*.test.ts',
      'test/differential/**/*.test.ts',
      'test/churn/**/*.test.ts',
      'packages/*/src/**/*.test.ts',
      'bench/**/*.test.ts',
      'examples/*/src/**/*.test.ts',
    ],
    concurrency: 2,
    minutes: 2,
    share: true,
  },
  e2e: {
    patterns: ['test/e2e/**/*.test.ts', 'test/packages/**/*.test.ts', 'test/docs/**/*.test.ts'],
    concurrency: 1,
    minutes: 2,
    // These wait for most of their time (a minute's silence, a frozen cluster), so they run beside the others.
    beside: [
      'test/e2e/join/cluster-health.test.ts',
      'test/e2e/fleet/members-breaking.test.ts',
      'test/e2e/runtime/examples.test.ts',
    ],
  },
  soak: { patterns: ['test/soak/**/*.test.ts'], concurrency: 1, minutes: 20 },
};

const [name = '', ...words] = process.argv.slice(2);
/** @type {{ patterns: string[], concurrency: number, minutes: number, beside?: string[], share?: boolean } | undefined} */
const suite = Object.hasOwn(suites, name) ? suites[/** @type {keyof typeof suites} */ (name)] : undefined;
if (suite === undefined) {
  console.error(`usage: node scripts/test.js ${Object.keys(suites).join('|')} [WORD...]`);
  process.exit(2);
}
const files = suite.patterns
  .flatMap((pattern) => globSync(pattern).sort())
  .filter((file) => words.length === 0 || words.some((word) => file.includes(word)));
if (files.length === 0) {
  console.error(`no test file matches ${words.join(' ')}`);
  process.exit(2);
}
const compiled = fileURLToPath(new URL('../node_modules/.cache/compiled', import.meta.url));
const reporter = new URL('./file-times-reporter.js', import.meta.url).href;
const times = mkdtempSync(join(tmpdir(), 'asterism-test-times-'));
// What Node made of the sources is kept from one test process to the next: half of their time otherwise.
const env = { NODE_COMPILE_CACHE: compiled, ...process.env };

/**
 * @typedef {{ files: string[], share?: boolean, minutes: number, concurrency: number }} Part - `share`: all in one process
 * @param {Part} part
 * @param {'inherit' | 'pipe'} stdout
 * @param {number} index
 */
function run({ files, share = false, minutes, concurrency }, stdout, index) {
  const flags = [
    '--conditions=asterism-source',
    '--disable-warning=ExperimentalWarning',
    '--test',
    ...(share ? ['--test-isolation=none'] : [`--test-concurrency=${concurrency}`]),
    `--test-timeout=${minutes * 60_000}`,
    '--test-reporter=spec',
    '--test-reporter-destination=stdout',
    `--test-reporter=${reporter}`,
    `--test-reporter-destination=${join(times, String(index))}`,
  ];
  const child = spawn(process.execPath, [...flags, ...files], { stdio: ['inherit', stdout, 'inherit'], env });
  const output = child.stdout ? text(child.stdout) : Promise.resolve('');
  return Promise.all([once(child, 'exit'), output]).then(([[code], printed]) => ({ code: Number(code ?? 1), printed }));
}

const beside = files.filter((file) => suite.beside?.includes(file));
const shared = files.filter((file) => suite.share && !beside.includes(file) && startsNothing(file));
const alone = files.filter((file) => !beside.includes(file) && !shared.includes(file));
const { minutes, concurrency } = suite;
/** @type {Part[]} */
const parts = [
  { files: alone, minutes, concurrency },
  { files: shared, share: true, minutes, concurrency },
  { files: beside, minutes, concurrency },
].filter((part) => part.files.length > 0);
const ended = await Promise.all(parts.map((part, index) => run(part, index === 0 ? 'inherit' : 'pipe', index)));
for (const { printed } of ended) process.stdout.write(printed);
if (files.length > SLOWEST) printSlowest();
rmSync(times, { recursive: true, force: true });
process.exitCode = Math.max(...ended.map(({ code }) => code));

function printSlowest() {
  const lines = parts.flatMap((_, index) => readFileSync(join(times, String(index)), 'utf8').split('\n'));
  const measured = lines.filter((line) => line !== '').map((line) => line.split('\t'));
  const slowest = measured.sort(([a], [b]) => Number(b) - Number(a)).slice(0, SLOWEST);
  console.log(`the ${slowest.length} slowest of ${measured.length} files:`);
  for (const [ms, file = ''] of slowest)
    console.log(`${(Number(ms) / 1000).toFixed(1).padStart(7)} s  ${relative('.', file)}`);
}
