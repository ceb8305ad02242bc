import { type LabelSelector, validatePathSegmentName } from '@asterism/machinery';
import {
  checkAtMostAll,
  checkCounts,
  checkShare,
  faultsOf,
  SPEC,
  specOf,
  STATUS,
  statusOf,
} from '../workload/validate-workload.ts';
import { checkConditions } from '../validation/validate-conditions.ts';
import { type Fields, textAt } from '../fields/draft-fields.ts';
import type { Faults } from '../validation/faults.ts';
import { checkLabelSelector, writtenSelector } from '../validation/validate-selector.ts';
import { internalForm } from '../validation/internal-form.ts';
import type { Strategy } from '../../contract/strategy.ts';

const EVICTION_POLICIES = ['AlwaysAllow', 'IfHealthyBudget'];

export const podDisruptionBudgetStrategy: Strategy = {
  // Its validation upstream looks at the spec alone.
  validateName: validatePathSegmentName,
  validatesEnums: true,

  validate: (object) => faultsOf((faults) => checkBudgetSpec(specOf(object), faults)),

  validateStatus: (object) =>
    faultsOf((faults) => {
      const status = statusOf(object);
      checkConditions(status, STATUS.child('conditions'), faults);
      checkCounts(status, ['disruptionsAllowed', 'currentHealthy', 'desiredHealthy', 'expectedPods'], STATUS, faults);
    }),
};

function checkBudgetSpec(spec: Fields, faults: Faults): void {
  const { minAvailable, maxUnavailable } = spec;
  const selector = spec.selector as LabelSelector | undefined;
  if (minAvailable !== undefined && maxUnavailable !== undefined) {
    const shown = internalForm('PodDisruptionBudgetSpec', {
      ...spec,
      ...(selector ? { selector: writtenSelector(selector) } : {}),
    });
    faults.invalidStruct(SPEC, shown, 'minAvailable and maxUnavailable cannot be both set');
  }
  for (const [key, value] of [
    ['minAvailable', minAvailable],
    ['maxUnavailable', maxUnavailable],
  ] as const) {
    checkShare(value, SPEC.child(key), faults);
    checkAtMostAll(value, SPEC.child(key), faults);
  }
  checkLabelSelector(selector, SPEC.child('selector'), faults);
  const policy = spec.unhealthyPodEvictionPolicy;
  if (typeof policy === 'string' && !EVICTION_POLICIES.includes(policy)) {
    faults.notSupported(
      SPEC.child('unhealthyPodEvictionPolicy'),
      textAt(spec, 'unhealthyPodEvictionPolicy'),
      EVICTION_POLICIES,
    );
  }
}
