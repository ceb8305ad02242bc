import { type LabelSelector, validatePathSegmentName } from '@asterism/machinery';
import {
  validateAtMostAll,
  validateCounts,
  validateShare,
  SPEC,
  specOf,
  STATUS,
  statusOf,
} from '../workload/validate-workload.ts';
import { validateConditions } from '../validation/validate-conditions.ts';
import { type Fields, textAt } from '../fields/draft-fields.ts';
import { collectFaults, type Faults } from '../validation/faults.ts';
import { validateLabelSelector, writtenSelector } from '../validation/validate-label-selector.ts';
import { internalForm } from '../validation/internal-form.ts';
import type { Kind } from '../../contract/kind.ts';
import { podDisruptionBudgetV1Beta1 } from './v1beta1.ts';

const EVICTION_POLICIES = ['AlwaysAllow', 'IfHealthyBudget'];

export const podDisruptionBudgetKind: Kind = {
  groupResource: 'poddisruptionbudgets.policy',
  legacyVersions: [
    // kube-controller-manager, kube-scheduler, `kubectl create pdb` and `kubectl describe pdb` of 1.20 use it.
    {
      group: 'policy',
      version: 'v1beta1',
      conversion: podDisruptionBudgetV1Beta1,
      deprecated: 'v1.21',
      removed: 'v1.25',
    },
  ],
  strategy: {
    generation: 'spec',
    requiresResourceVersion: true,
    // Its validation upstream looks at the spec alone.
    validateName: validatePathSegmentName,
    validate: (object) => collectFaults((faults) => validateBudgetSpec(specOf(object), faults)),

    validateStatus: (object) =>
      collectFaults((faults) => {
        const status = statusOf(object);
        validateConditions(status, STATUS.child('conditions'), faults);
        validateCounts(
          status,
          ['disruptionsAllowed', 'currentHealthy', 'desiredHealthy', 'expectedPods'],
          STATUS,
          faults,
        );
      }),
  },
};

function validateBudgetSpec(spec: Fields, faults: Faults): void {
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
    validateShare(value, SPEC.child(key), faults);
    validateAtMostAll(value, SPEC.child(key), faults);
  }
  validateLabelSelector(selector, SPEC.child('selector'), faults);
  const policy = spec.unhealthyPodEvictionPolicy;
  if (typeof policy === 'string' && !EVICTION_POLICIES.includes(policy)) {
    faults.notSupported(
      SPEC.child('unhealthyPodEvictionPolicy'),
      textAt(spec, 'unhealthyPodEvictionPolicy'),
      EVICTION_POLICIES,
    );
  }
}
