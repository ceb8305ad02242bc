import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const { analyseSearch, keptExpressions } = (await import(`${ROOT}scripts/lint/search-time.js`)) as {
  analyseSearch: (pattern: string, flags: string, timeout?: number) => string | undefined;
  keptExpressions: () => string[];
};

test('every expression of the list takes linear time', () => {
  const kept = keptExpressions();
  assert.ok(
    kept.length > 100,
    'the list belongs to another release of the analyser: run `npm run check` and `npm run generate`',
  );
  const slow = kept.filter((line) => {
    const [pattern, flags] = JSON.parse(line) as [string, string];
    return analyseSearch(pattern, flags, 120_000) !== undefined;
  });
  assert.deepEqual(slow, []);
});
