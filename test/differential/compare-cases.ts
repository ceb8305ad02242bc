import { compareOutcomes, type Difference } from './compare-outcomes.ts';
import type { DifferentialCase } from './differential-case.ts';
import type { Outcomes } from './run-cases.ts';

/** A case that our server answered otherwise. */
export interface RedCase {
  name: string;
  differences: Difference[];
}

/** Compares all cases. `used` gets the names of the known differences that were met. */
export function compareCases(
  cases: readonly DifferentialCase[],
  real: Outcomes,
  own: Outcomes,
  used: Set<string>,
): RedCase[] {
  return cases.flatMap((one) => {
    const differences = differencesOf(one, real, own, used);
    return differences.length > 0 ? [{ name: one.name, differences }] : [];
  });
}

function differencesOf(one: DifferentialCase, real: Outcomes, own: Outcomes, used: Set<string>): Difference[] {
  const [theirs, ours] = [real.get(one.name), own.get(one.name)];
  if (Array.isArray(theirs) && Array.isArray(ours)) return compareOutcomes(one, theirs, ours, used);
  return [theirs, ours].flatMap((outcome, index) => {
    if (Array.isArray(outcome)) return [];
    const who = index === 0 ? 'the real server' : 'ours';
    return [{ step: 0, what: `run against ${who}`, how: outcome?.message ?? 'was not run' }];
  });
}
