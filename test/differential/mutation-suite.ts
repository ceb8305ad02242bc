import type { TestContext } from 'node:test';
import { allCases } from './all-cases.ts';
import { compareCases } from './compare-cases.ts';
import type { DifferentialCase } from './differential-case.ts';
import type { Mutation } from './mutations.ts';
import { startRealServer } from './real-server.ts';
import { type Outcomes, runCases } from './run-cases.ts';
import { SourceCopy } from './source-copy.ts';

const SEED = 1;

/**
 * Runs each mutation's cases against a server that has it, and returns the names of those that turned none of them red. A case
 * that differs without a mutation too counts only where it differs otherwise with it.
 */
export async function survivingMutations(context: TestContext, mutations: readonly Mutation[]): Promise<string[]> {
  const concerned = (one: DifferentialCase): boolean => mutations.some(({ cases }) => cases.test(one.name));
  const cases = allCases(SEED).filter(concerned);
  const real = await realOutcomes(cases);
  await using copy = await SourceCopy.make();
  let before: ReadonlySet<string> = new Set();
  await copy.mutated([], async ({ target }) => {
    before = differences(cases, real, await runCases(cases, target));
  });
  const survivors: string[] = [];
  for (const { name, replacements, cases: its } of mutations) {
    const chosen = cases.filter((one) => its.test(one.name));
    await copy.mutated(replacements, async ({ target }) => {
      const found = differences(chosen, real, await runCases(chosen, target));
      const fresh = [...found].filter((difference) => !before.has(difference));
      context.diagnostic(`${name}: ${fresh.length} answers differ; ${fresh[0]?.split('\n')[0] ?? 'none'}`);
      if (fresh.length === 0) survivors.push(name);
    });
  }
  return survivors;
}

async function realOutcomes(cases: readonly DifferentialCase[]): Promise<Outcomes> {
  await using real = await startRealServer();
  return await runCases(cases, real.target);
}

function differences(cases: readonly DifferentialCase[], real: Outcomes, own: Outcomes): Set<string> {
  const red = compareCases(cases, real, own, new Set());
  return new Set(
    red.flatMap(({ name, differences: its }) => its.map(({ step, how }) => `${name} step ${step}: ${how}`)),
  );
}
