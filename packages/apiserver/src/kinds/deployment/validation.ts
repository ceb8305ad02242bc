import {
  validateAtMostAll,
  validateCounts,
  validateOwnSelector,
  validateServingTemplate,
  validateShare,
  selectorOf,
  shareNumber,
  SPEC,
} from '../workload/validate-workload.ts';
import { type Fields, numberAt, optionalFields, textAt } from '../fields/draft-fields.ts';
import type { Faults } from '../validation/faults.ts';
import { validateLabelSelector } from '../validation/validate-label-selector.ts';

export function validateDeploymentSpec(spec: Fields, faults: Faults): void {
  validateCounts(spec, ['replicas'], SPEC, faults);
  validateOwnSelector(
    selectorOf(spec),
    'deployment',
    (selector, at) => validateLabelSelector(selector, at, faults),
    faults,
  );
  validateServingTemplate(spec, { kind: 'ReplicaSet' }, faults);
  validateRollout(optionalFields(spec, 'strategy') ?? {}, faults);
  validateCounts(spec, ['minReadySeconds', 'revisionHistoryLimit', 'progressDeadlineSeconds'], SPEC, faults);
  const deadline = numberAt(spec, 'progressDeadlineSeconds');
  if (deadline !== undefined && deadline <= (numberAt(spec, 'minReadySeconds') ?? 0)) {
    faults.invalid(SPEC.child('progressDeadlineSeconds'), deadline, 'must be greater than minReadySeconds');
  }
}

function validateRollout(strategy: Fields, faults: Faults): void {
  const at = SPEC.child('strategy');
  const rolling = optionalFields(strategy, 'rollingUpdate');
  const type = textAt(strategy, 'type');
  if (type === 'Recreate') {
    const detail = "may not be specified when strategy `type` is 'Recreate'";
    if (rolling) faults.forbidden(at.child('rollingUpdate'), detail);
  } else if (type !== 'RollingUpdate') {
    const { maxUnavailable = 0, maxSurge = 0 } = rolling ?? {};
    const shown = {
      Type: type,
      RollingUpdate: rolling ? { MaxUnavailable: maxUnavailable, MaxSurge: maxSurge } : null,
    };
    faults.notSupported(at, shown, ['Recreate', 'RollingUpdate']);
  } else if (rolling) {
    const { maxUnavailable, maxSurge } = rolling;
    const place = at.child('rollingUpdate');
    validateShare(maxUnavailable, place.child('maxUnavailable'), faults);
    validateShare(maxSurge, place.child('maxSurge'), faults);
    if (shareNumber(maxUnavailable) === 0 && shareNumber(maxSurge) === 0) {
      faults.invalid(place.child('maxUnavailable'), maxUnavailable, 'may not be 0 when `maxSurge` is 0');
    }
    validateAtMostAll(maxUnavailable, place.child('maxUnavailable'), faults);
  }
}
