import { CelEnvironment } from './cel-environment.ts';

/** Why expressions cannot be conditions, in their order; undefined for each that can. */
export function conditionFaults(expressions: readonly string[]): (string | undefined)[] {
  const environment = new CelEnvironment();
  return expressions.map((expression) => environment.compile(expression).fault);
}
