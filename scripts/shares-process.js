import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The reasons for a process of its own: other processes, changes of the process, and measurements of it. */
const ALONE = [
  /node:child_process|node:worker_threads|node:cluster|process\.kill/,
  /process\.(env[.[]|chdir|exitCode|on\(|once\(|emit|removeAll)|mock\.timers|setFlagsFromString/,
  /collectGarbage|compactHeap|memoryUsage|getHeap|[cC]puUsage|monitorEventLoopDelay|eventLoopUtilization/,
];

/** @type {Map<string, boolean>} */
const known = new Map();

/**
 * Whether a test file, with the test code that it imports, can share a process with others. It saves the start of a process, the
 * imports and the warm-up of what is imported, which are most of the cost of a short test.
 *
 * @param {string} file - its path from the root of the repository
 * @returns {boolean}
 */
export function sharesProcess(file) {
  const answer = known.get(file);
  if (answer !== undefined) return answer;
  known.set(file, true); // For files that import each other.
  const source = readFileSync(file, 'utf8');
  const helpers = [...source.matchAll(/from '(\.[^']+)'/g)].map(([, specifier = '']) => join(dirname(file), specifier));
  const result = !ALONE.some((sign) => sign.test(source)) && helpers.filter(isOfTests).every(sharesProcess);
  known.set(file, result);
  return result;
}

/** @param {string} file */
function isOfTests(file) {
  return /\/testing\/|^test\/|^bench\/|\.test\.ts$/.test(file) && existsSync(file);
}
