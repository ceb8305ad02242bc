import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/**
 * What needs a process of its own: servers, other processes and threads, folders, changes of the process, and figures of its memory or
 * of the time that it takes.
 */
const ALONE = [
  /startTestServer|createServer|\.listen\(|@asterism\/\w+\/testing|createSqliteStorage|DatabaseSync|mkdtemp/,
  /node:child_process|node:worker_threads|node:cluster|process\.kill/,
  /process\.(env[.[]|chdir|exitCode|on\(|once\(|emit|removeAll)|mock\.timers|setFlagsFromString/,
  /collectGarbage|compactHeap|memoryUsage|getHeap|[cC]puUsage/,
];

/** @type {Map<string, boolean>} */
const known = new Map();

/**
 * Whether a test file starts nothing, nor does anything of tests that it imports: such files can share a process, which saves most of
 * what a short test costs.
 *
 * @param {string} file - its path from the root of the repository
 * @returns {boolean}
 */
export function startsNothing(file) {
  const answer = known.get(file);
  if (answer !== undefined) return answer;
  known.set(file, true); // For files that import each other.
  const source = readFileSync(file, 'utf8');
  const helpers = [...source.matchAll(/from '(\.[^']+)'/g)].map(([, specifier = '']) => join(dirname(file), specifier));
  const result = !ALONE.some((sign) => sign.test(source)) && helpers.filter(isOfTests).every(startsNothing);
  known.set(file, result);
  return result;
}

/** @param {string} file */
function isOfTests(file) {
  return /\/testing\/|^test\/|^bench\/|\.test\.ts$/.test(file) && existsSync(file);
}
