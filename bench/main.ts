// `npm run bench -- NAME [--json FILE] [--check]`; README.md says more.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { BENCHES } from './benches.ts';
import { calibrate } from './harness/calibrate.ts';
import { readEnvironment } from './harness/environment.ts';
import { missed } from './harness/judge.ts';
import { parseArguments } from './harness/parse-arguments.ts';
import { replaceBetweenMarkers } from './harness/render-document.ts';
import { renderMissed, renderReport } from './harness/render-report.ts';
import type { Report } from './harness/report.ts';
import { runBench } from './harness/run-bench.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const DOCUMENT = fileURLToPath(new URL('../docs/performance.md', import.meta.url));
const USAGE = `usage: npm run bench -- NAME [--json FILE] [--check]
       npm run bench -- --render FILE...   (what --json wrote, into docs/performance.md)
`;

/** Resolves with the exit code: 0 fine, 1 the bench failed or (with --check) a goal is missed, 2 usage. */
async function main(args: readonly string[]): Promise<number> {
  const request = parseArguments(args, Object.keys(BENCHES));
  switch (request.kind) {
    case 'usage':
      process.stderr.write(`bench: ${request.message}\n${USAGE}`);
      return 2;
    case 'list':
      await list();
      return 0;
    case 'render':
      render(request.files);
      return 0;
    case 'run':
      return await run(request);
  }
}

async function list(): Promise<void> {
  process.stdout.write(USAGE);
  for (const [name, load] of Object.entries(BENCHES)) {
    const { summary, minutes } = await load();
    process.stdout.write(`  ${name.padEnd(12)}${summary} (at most ${minutes} min)\n`);
  }
}

function render(files: readonly string[]): void {
  for (const file of files) {
    const report = JSON.parse(readFileSync(file, 'utf8')) as Report;
    const document = readFileSync(DOCUMENT, 'utf8');
    writeFileSync(DOCUMENT, replaceBetweenMarkers(document, report.bench, renderReport(report, 'markdown')));
  }
}

async function run({ name, json, check }: { name: string; json?: string; check: boolean }): Promise<number> {
  const environment = readEnvironment(ROOT);
  const bench = await BENCHES[name]!();
  const report = await runBench(bench, {
    environment,
    calibrate,
    progress: (text) => process.stderr.write(`${name}: ${text}\n`),
    signal: interrupted(),
  });
  process.stdout.write(renderReport(report, 'plain'));
  if (json !== undefined) writeFileSync(json, `${JSON.stringify(report, null, 2)}\n`);
  if (check && missed(report.figures).length > 0) {
    process.stderr.write(`\nbench: goals missed:\n${renderMissed(report.figures)}\n`);
    return 1;
  }
  return report.failure === undefined ? 0 : 1;
}

/** Aborts at the first SIGINT or SIGTERM: the bench stops what it started, then prints what it has. */
function interrupted(): AbortSignal {
  const abort = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => abort.abort(new Error(signal)));
  return abort.signal;
}

process.exitCode = await main(process.argv.slice(2));
