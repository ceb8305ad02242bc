import { appendFileSync, mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

// The analyser has native builds too. The portable one gives the same answer on every machine.
process.env['RECHECK_BACKEND'] = 'pure';

const require = createRequire(import.meta.url);
const { version } = /** @type {{ version: string }} */ (require('recheck/package.json'));
/** Expressions that were shown to be linear, on a quiet machine: an analysis takes up to a second, and much longer on a busy one. */
const KEPT = fileURLToPath(new URL('linear-expressions.txt', import.meta.url));
/** Expressions of this machine that are not in the list yet: `npm run generate` moves them there. */
const NEW = fileURLToPath(new URL(`../../node_modules/.cache/linear-expressions-${version}`, import.meta.url));

/** @type {Set<string> | undefined} */
let known;

/**
 * Why a search with this expression may take more than linear time in the length of the text; undefined if it is linear. An
 * expression that cannot be shown to be linear within `timeout` milliseconds counts as slow: the rule exists to be safe.
 *
 * @param {string} pattern
 * @param {string} flags
 * @param {number} [timeout]
 * @returns {string | undefined}
 */
export function slowSearch(pattern, flags, timeout = 30_000) {
  const key = JSON.stringify([pattern, flags]);
  known ??= new Set([...keptExpressions(), ...readLines(NEW)]);
  if (known.has(key)) return undefined;
  const fault = analyseSearch(pattern, flags, timeout);
  if (fault !== undefined) return fault;
  known.add(key);
  mkdirSync(dirname(NEW), { recursive: true });
  appendFileSync(NEW, `${key}\n`);
  return undefined;
}

/**
 * As {@link slowSearch}, whatever is known of the expression.
 *
 * @param {string} pattern
 * @param {string} flags
 * @param {number} timeout
 * @returns {string | undefined}
 */
export function analyseSearch(pattern, flags, timeout) {
  // Loaded only for an expression that is new: it takes half a second.
  const { checkSync } = /** @type {typeof import('recheck')} */ (require('recheck'));
  const found = checkSync(pattern, flags, { timeout });
  if (found.status === 'vulnerable') {
    return `takes ${found.complexity.summary} time for ${found.attack.pattern.slice(0, 200)}`;
  }
  if (found.status === 'unknown') return `cannot be shown to take linear time (${found.error.kind})`;
  return undefined;
}

/** The expressions of the list, if the analyser has not changed since. @returns {string[]} */
export function keptExpressions() {
  const [first, ...lines] = readLines(KEPT);
  return first === `recheck ${version}` ? lines : [];
}

/** The list as it should be: with the expressions that are new on this machine. */
export function listExpressions() {
  const lines = new Set([...keptExpressions(), ...readLines(NEW)]);
  return `${[`recheck ${version}`, ...[...lines].sort()].join('\n')}\n`;
}

/** @param {string} file @returns {string[]} */
function readLines(file) {
  try {
    return readFileSync(file, 'utf8')
      .split('\n')
      .filter((line) => line !== '');
  } catch {
    return [];
  }
}
