// `npm run conformance`: recorded requests against a server of ours, and what differs; README.md says more.
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { startFreshServer } from './fresh-server.ts';
import { parseArguments, type Request } from './parse-arguments.ts';
import { renderDifferences, renderResults } from './report.ts';
import { type AreaResult, runArea } from './run-area.ts';
import { listScenarioFiles } from './scenario.ts';

const DEFAULT_FOLDER = fileURLToPath(new URL('../../../shared/kube/recorded-1.36', import.meta.url));
const LINE_WIDTH = 500;
const USAGE = `usage: npm run conformance [-- DIR] [--area AREA] [--only REGEXP] [--failed] [--show NAME]
       npm run conformance -- --serve HOST:PORT
`;

/** Resolves with the exit code: 0 the scenarios were run, 2 usage. */
async function main(args: readonly string[]): Promise<number> {
  let request: Request;
  try {
    request = parseArguments(args, DEFAULT_FOLDER);
  } catch (error) {
    process.stderr.write(`conformance: ${(error as Error).message}\n${USAGE}`);
    return 2;
  }
  return request.kind === 'serve' ? await serve(request) : await run(request);
}

async function run({ folder, area, only, show, failed }: Extract<Request, { kind: 'run' }>): Promise<number> {
  const files = existsSync(folder)
    ? listScenarioFiles(folder).filter((file) => area === undefined || file.area === area)
    : [];
  if (files.length === 0) {
    const what = area === undefined ? '*.jsonl' : `${area}.jsonl`;
    process.stderr.write(`conformance: there is no ${what} in ${folder}: name the folder of the scenarios\n${USAGE}`);
    return 2;
  }
  const wanted = (name: string): boolean => (show === undefined ? only?.test(name) !== false : name === show);
  const results: AreaResult[] = [];
  for (const file of files) {
    const result = await runArea(file, wanted);
    if (result.scenarios.length > 0) results.push(result);
  }
  if (show !== undefined && results.length === 0) {
    process.stderr.write(`conformance: no scenario is called ${show}\n`);
    return 2;
  }
  if (failed || show !== undefined) {
    const width = show === undefined ? LINE_WIDTH : Number.POSITIVE_INFINITY;
    process.stdout.write(`${renderDifferences(results, width)}\n`);
  }
  process.stdout.write(renderResults(results));
  return 0;
}

async function serve(listen: { host: string; port: number }): Promise<number> {
  await using server = await startFreshServer(listen);
  process.stdout.write(
    `serving ${server.url} (a certificate of its own; tokens admin-token, alice-token, bob-token)\n`,
  );
  await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
  return 0;
}

process.exitCode = await main(process.argv.slice(2));
