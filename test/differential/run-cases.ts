import type { Target } from '../conformance/send-request.ts';
import type { DifferentialCase } from './differential-case.ts';
import { runCase, type StepOutcome } from './run-case.ts';

/** By name: what each step was answered, or why the case could not be run to its end. */
export type Outcomes = ReadonlyMap<string, StepOutcome[] | Error>;

/** How many run at once; each has a namespace of its own. */
const AT_ONCE = 6;

/** Runs all cases against one server. */
export async function runCases(cases: readonly DifferentialCase[], target: Target): Promise<Outcomes> {
  const outcomes = new Map<string, StepOutcome[] | Error>();
  const waiting = cases.values();
  const worker = async (): Promise<void> => {
    for (const one of waiting) {
      outcomes.set(one.name, await runCase(one, target).catch((error: unknown) => error as Error));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return outcomes;
}
