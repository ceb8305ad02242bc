// `npm test` (unit), `npm run test:e2e`, `npm run test:soak`: finds the test files and hands them to node's own test runner.
// Words after `--` narrow it down to the files whose path contains one of them.
import { globSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
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
  },
  soak: { patterns: ['test/soak/**/*.test.ts'], concurrency: 1, minutes: 20 },
};

const [name = '', ...words] = process.argv.slice(2);
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
const { status } = spawnSync(
  process.execPath,
  [
    '--conditions=asterism-source',
    '--disable-warning=ExperimentalWarning',
    '--test',
    `--test-concurrency=${suite.concurrency}`,
    `--test-timeout=${suite.minutes * 60_000}`,
    ...files,
  ],
  // What Node made of the sources is kept from one test process to the next: half of their time otherwise.
  { stdio: 'inherit', env: { NODE_COMPILE_CACHE: compiled, ...process.env } },
);
process.exit(status ?? 1);
