// `npm test` (unit), `npm run test:e2e`, `npm run test:soak`: finds the test files and hands them to node's own test runner.
// After `--`: names of capabilities (the folders of `test/e2e`) or parts of paths choose files; options go to the test runner.
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism, tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { chooseTests } from './choose-tests.js';
import { sharesProcess } from './shares-process.js';

const SLOWEST = 10;
const CORES = availableParallelism();
/** A server or timer that a test leaves behind would keep a shared process alive for ever. */
const ENDS = `after(() => {
  setTimeout(() => {
    console.error('tests of a shared process left behind:', process.getActiveResourcesInfo());
    process.exit(1);
  }, 10_000).unref();
});`;

/**
 * @typedef {object} Suite
 * @property {string[]} patterns
 * @property {number} minutes - for each test and each file
 * @property {number} concurrency - of files that have a process of their own
 * @property {number} [lanes] - how many processes the files share that can share one; without it no file does
 */

/** @type {Record<string, Suite>} */
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
    minutes: 2,
    concurrency: Math.ceil(CORES / 2),
    lanes: CORES + 1,
  },
  e2e: {
    patterns: ['test/e2e/**/*.test.ts', 'test/packages/**/*.test.ts', 'test/docs/**/*.test.ts'],
    minutes: 2,
    // A control plane and its clients keep two cores busy, and some tests measure what seconds take.
    concurrency: Math.ceil(CORES / 2),
  },
  soak: { patterns: ['test/soak/**/*.test.ts'], minutes: 20, concurrency: 1 },
};

const [name = '', ...args] = process.argv.slice(2);
const suite = suites[name];
if (suite === undefined) {
  console.error(`usage: node scripts/test.js ${Object.keys(suites).join('|')} [CAPABILITY|WORD...] [OPTION...]`);
  process.exit(2);
}
const options = args.filter((arg) => arg.startsWith('--'));
const words = args.filter((arg) => !arg.startsWith('--'));
const all = suite.patterns.flatMap((pattern) => globSync(pattern).sort());
const files = chosen();

const compiled = fileURLToPath(new URL('../node_modules/.cache/compiled', import.meta.url));
const reporter = new URL('./file-times-reporter.js', import.meta.url).href;
const folder = mkdtempSync(join(tmpdir(), 'asterism-test-'));
// Every test process reuses the compiled sources of the ones before. Compiling is half of their time otherwise.
const env = { NODE_COMPILE_CACHE: compiled, ...process.env };

const { lanes = 0, concurrency } = suite;
const besideOthers = files.filter(runsBeside);
const shared = files.filter((file) => lanes > 0 && !besideOthers.includes(file) && sharesProcess(file));
const alone = files.filter((file) => !besideOthers.includes(file) && !shared.includes(file));
const parts = [
  ...Array.from({ length: lanes }, (_, lane) => shared.filter((_, index) => index % lanes === lane))
    .filter(({ length }) => length > 0)
    .map((files, index) => ['--test-isolation=none', laneOf(files, index)]),
  ...[alone, besideOthers]
    .filter(({ length }) => length > 0)
    .map((files) => [`--test-concurrency=${files === alone ? concurrency : 1}`, ...files]),
];
const ended = await Promise.all(parts.map((part, index) => run(part, index)));
if (files.length > SLOWEST) printSlowest();
rmSync(folder, { recursive: true, force: true });
process.exitCode = Math.max(...ended);

function chosen() {
  try {
    return chooseTests(all, words);
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exit(2);
  }
}

/**
 * A file that waits for most of its time runs beside the others, one such file after another. The file says so, and why.
 *
 * @param {string} file
 */
function runsBeside(file) {
  return /^\/\/ Runs beside other tests: /m.test(readFileSync(file, 'utf8'));
}

/**
 * Writes a file that runs all of these in its process, each as a suite, so that its hooks are its own.
 *
 * @param {readonly string[]} files
 * @param {number} index
 */
function laneOf(files, index) {
  const lane = join(folder, `lane-${index}.test.mjs`);
  const imports = files.map(
    (file) => `describe(${JSON.stringify(file)}, () => import(${JSON.stringify(pathToFileURL(resolve(file)))}));`,
  );
  writeFileSync(lane, `import { after, describe } from 'node:test';\n${imports.join('\n')}\n${ENDS}\n`);
  return lane;
}

/**
 * Resolves with the exit code. The output of the first is shown as it comes, and that of each other one at its end.
 *
 * @param {readonly string[]} part
 * @param {number} index
 */
async function run(part, index) {
  const flags = [
    '--conditions=asterism-source',
    '--disable-warning=ExperimentalWarning',
    '--test',
    `--test-timeout=${(suite?.minutes ?? 1) * 60_000}`,
    '--test-reporter=spec',
    '--test-reporter-destination=stdout',
    `--test-reporter=${reporter}`,
    `--test-reporter-destination=${join(folder, `times-${index}`)}`,
    ...options,
  ];
  const child = spawn(process.execPath, [...flags, ...part], {
    stdio: ['inherit', index === 0 ? 'inherit' : 'pipe', 'inherit'],
    env,
  });
  const printed = child.stdout ? text(child.stdout) : '';
  const [code] = await once(child, 'exit');
  process.stdout.write(await printed);
  return Number(code ?? 1);
}

function printSlowest() {
  const lines = parts.flatMap((_, index) => readFileSync(join(folder, `times-${index}`), 'utf8').split('\n'));
  const measured = lines.filter((line) => line !== '').map((line) => line.split('\t'));
  const slowest = measured.sort(([a], [b]) => Number(b) - Number(a)).slice(0, SLOWEST);
  console.log(`the ${slowest.length} slowest of ${measured.length} files:`);
  for (const [ms, file = ''] of slowest)
    console.log(`${(Number(ms) / 1000).toFixed(1).padStart(7)} s  ${relative('.', file)}`);
}
