import { type DifferentialCase, SUBJECTS, type Subject } from './differential-case.ts';

/** How many combinations each subject has to have at least. */
export const LEAST_COMBINATIONS = 50;

/** The distinct combinations of each subject. */
export function combinationsOf(cases: readonly DifferentialCase[]): ReadonlyMap<Subject, ReadonlySet<string>> {
  const counted = new Map<Subject, Set<string>>(SUBJECTS.map((subject) => [subject, new Set()]));
  for (const { subject, combinations } of cases) for (const one of combinations) counted.get(subject)?.add(one);
  return counted;
}

/** A line for each subject: combinations, cases, requests, red cases. */
export function coverageTable(cases: readonly DifferentialCase[], red: ReadonlySet<string>): string[] {
  const combinations = combinationsOf(cases);
  const lines = SUBJECTS.map((subject) => {
    const its = cases.filter((one) => one.subject === subject);
    const steps = its.reduce((sum, { steps: all }) => sum + all.length, 0);
    const reds = its.filter(({ name }) => red.has(name)).length;
    const numbers = [combinations.get(subject)?.size ?? 0, its.length, steps, reds];
    return `${subject.padEnd(18)}${numbers.map((number) => String(number).padStart(14)).join('')}`;
  });
  const heads = ['combinations', 'cases', 'steps', 'red'];
  return [`${''.padEnd(18)}${heads.map((head) => head.padStart(14)).join('')}`, ...lines];
}
