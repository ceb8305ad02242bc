// `npm test` (unit), `npm run test:e2e`, `npm run test:soak`: finds the test files and hands them to node's own test runner.
// Words after `--` narrow it down to the files whose path contains one of them.
import { globSync } from 'node:fs';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

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
  },
  e2e: {
    patterns: ['test/e2e/**/*.test.ts', 'test/packages/**/*.test.ts', 'test/docs/**/*.test.ts'],
    concurrency: 1,
    minutes: 2,
    // These wait for most of their time (a minute's silence, a frozen cluster), so they run beside the others.
    beside: [
      'test/e2e/cluster-health.test.ts',
      'test/e2e/members-breaking.test.ts',
      'test/e2e/runtime-examples.test.ts',
    ],
  },
  soak: { patterns: ['test/soak/**/*.test.ts'], concurrency: 1, minutes: 20 },
};

const [name = '', ...words] = process.argv.slice(2);
/** @type {{ patterns: string[], concurrency: number, minutes: number, beside?: string[] } | undefined} */
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
const flags = [
  '--conditions=asterism-source',
  '--disable-warning=ExperimentalWarning',
  '--test',
  `--test-concurrency=${suite.concurrency}`,
  `--test-timeout=${suite.minutes * 60_000}`,
];
// What Node made of the sources is kept from one test process to the next: half of their time otherwise.
const env = { NODE_COMPILE_CACHE: compiled, ...process.env };

/**
 * @param {string[]} files
 * @param {'inherit' | 'pipe'} stdout
 */
function run(files, stdout) {
  const child = spawn(process.execPath, [...flags, ...files], { stdio: ['inherit', stdout, 'inherit'], env });
  const output = child.stdout ? text(child.stdout) : Promise.resolve('');
  return Promise.all([once(child, 'exit'), output]).then(([[code], printed]) => ({ code: Number(code ?? 1), printed }));
}

const beside = files.filter((file) => suite.beside?.includes(file));
const others = files.filter((file) => !beside.includes(file));
const runs = others.length === 0 ? [run(beside, 'inherit')] : [run(others, 'inherit')];
if (others.length > 0 && beside.length > 0) runs.push(run(beside, 'pipe'));
const ended = await Promise.all(runs);
for (const { printed } of ended) process.stdout.write(printed);
process.exitCode = Math.max(...ended.map(({ code }) => code));
