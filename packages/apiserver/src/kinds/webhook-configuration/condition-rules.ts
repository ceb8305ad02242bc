import type { conditionFaults as Rule } from '../../cel/condition-faults.ts';

let rule: typeof Rule | undefined;

/** Loads the CEL engine. It takes some milliseconds and 0.8 MB, and many servers never store a webhook configuration. */
export function loadConditionRules(): Promise<void> | undefined {
  if (rule) return undefined;
  return import('../../cel/condition-faults.ts').then(({ conditionFaults }) => {
    rule = conditionFaults;
  });
}

/** The faults of expressions, in their order; undefined for each without one. {@link loadConditionRules} comes first. */
export function conditionFaults(expressions: readonly string[]): (string | undefined)[] {
  if (!rule) throw new Error('the rules of conditions are not loaded');
  return rule(expressions);
}
