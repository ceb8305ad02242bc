import { appendFileSync, mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

// The analyser has native builds too. The portable one gives the same answer on every machine.
process.env['RECHECK_BACKEND'] = 'pure';

const require = createRequire(import.meta.url);
const { version } = /** @type {{ version: string }} */ (require('recheck/package.json'));
const KNOWN = fileURLToPath(new URL(`../../node_modules/.cache/linear-expressions-${version}`, import.meta.url));

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
  known ??= readKnown();
  if (known.has(key)) return undefined;
  // Loaded only for an expression that is new: it takes half a second.
  const { checkSync } = /** @type {typeof import('recheck')} */ (require('recheck'));
  const found = checkSync(pattern, flags, { timeout });
  if (found.status === 'vulnerable') {
    return `takes ${found.complexity.summary} time for ${found.attack.pattern.slice(0, 200)}`;
  }
  if (found.status === 'unknown') return `cannot be shown to take linear time (${found.error.kind})`;
  known.add(key);
  mkdirSync(dirname(KNOWN), { recursive: true });
  appendFileSync(KNOWN, `${key}\n`);
  return undefined;
}

/** @returns {Set<string>} */
function readKnown() {
  try {
    return new Set(readFileSync(KNOWN, 'utf8').split('\n'));
  } catch {
    return new Set();
  }
}
