import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { allCases } from './all-cases.ts';
import { compareCases } from './compare-cases.ts';
import { combinationsOf, coverageTable, LEAST_COMBINATIONS } from './coverage.ts';
import { KNOWN_DIFFERENCES } from './known-differences.ts';
import { startOwnServer } from './own-server.ts';
import { startRealServer } from './real-server.ts';
import { runCases } from './run-cases.ts';

const MOST_SHOWN = 40;

/**
 * Sends the cases of the seeds to both servers and fails where an answer differs, where a subject has too few combinations, or,
 * with `stale`, where a known difference explains nothing any more. Tells a table of what was covered.
 * `ASTERISM_SEEDS`, numbers with commas between them, goes before the seeds; others may meet fewer known differences.
 */
export async function runDifferentialSuite(
  context: TestContext,
  { seeds: given, stale }: { seeds: readonly number[]; stale: boolean },
): Promise<void> {
  const asked = process.env['ASTERISM_SEEDS']?.split(',').map(Number);
  const seeds = asked ?? given;
  context.diagnostic(`seeds ${seeds.join(',')}: repeat with ASTERISM_SEEDS=${seeds.join(',')}`);
  const cases = seeds.flatMap(allCases);
  await using real = await startRealServer();
  await using own = await startOwnServer();
  const [theirs, ours] = await Promise.all([runCases(cases, real.target), runCases(cases, own.target)]);
  const used = new Set<string>();
  const red = compareCases(cases, theirs, ours, used);
  for (const line of coverageTable(cases, new Set(red.map(({ name }) => name)))) context.diagnostic(line);
  const shown = red.flatMap(({ name, differences }) =>
    differences.map(({ step, what, how }) => `${name} step ${step}: ${what.slice(0, 500)}\n  ${how.slice(0, 1_000)}`),
  );
  const unused = KNOWN_DIFFERENCES.filter(({ name }) => !used.has(name)).map(({ name }) => name);
  const few = [...combinationsOf(cases)].filter(([, its]) => its.size < LEAST_COMBINATIONS).map(([subject]) => subject);
  assert.deepEqual(few, [], `subjects with fewer than ${LEAST_COMBINATIONS} combinations`);
  assert.equal(
    red.length,
    0,
    `${red.length} of ${cases.length} cases differ\n${shown.slice(0, MOST_SHOWN).join('\n')}`,
  );
  if (stale && !asked) assert.deepEqual(unused, [], 'known differences that explain nothing any more');
}
