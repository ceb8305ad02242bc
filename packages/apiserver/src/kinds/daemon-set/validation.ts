import {
  validateAtMostAll,
  validateCounts,
  validateServing,
  validateShare,
  refuseLabels,
  selectorOf,
  shareNumber,
  SPEC,
  templateOf,
} from '../workload/validate-workload.ts';
import { type Fields, optionalFields, textAt } from '../fields/draft-fields.ts';
import type { Faults } from '../validation/faults.ts';
import { validateLabelSelector, isEmptySelector, selectorTakes } from '../validation/validate-label-selector.ts';
import { validatePodTemplate } from '../pod-spec/validate-pod-spec.ts';

export function validateDaemonSetSpec(spec: Fields, faults: Faults): void {
  const at = SPEC.child('template');
  const selector = selectorOf(spec);
  const template = templateOf(spec);
  validateLabelSelector(selector, SPEC.child('selector'), faults);
  const takes = selectorTakes(selector, template.metadata?.labels);
  if (takes === false && !(selector && isEmptySelector(selector))) refuseLabels(template, at, faults);
  if (selector && isEmptySelector(selector)) {
    faults.invalid(SPEC.child('selector'), {}, 'empty selector is invalid for daemonset');
  }
  validatePodTemplate(template, at, faults);
  validateServing(template, 'DaemonSet', at, faults);
  validateCounts(spec, ['minReadySeconds'], SPEC, faults);
  validateRollout(optionalFields(spec, 'updateStrategy') ?? {}, faults);
  validateCounts(spec, ['revisionHistoryLimit'], SPEC, faults);
}

function validateRollout(strategy: Fields, faults: Faults): void {
  const at = SPEC.child('updateStrategy');
  const type = textAt(strategy, 'type');
  const rolling = optionalFields(strategy, 'rollingUpdate');
  const place = at.child('rollingUpdate');
  if (type === 'OnDelete') return;
  if (type !== 'RollingUpdate') {
    const { maxUnavailable = 0, maxSurge = 0 } = rolling ?? {};
    const shown = {
      Type: type,
      RollingUpdate: rolling ? { MaxUnavailable: maxUnavailable, MaxSurge: maxSurge } : null,
    };
    return faults.notSupported(at, shown, ['RollingUpdate', 'OnDelete']);
  }
  if (!rolling) return faults.required(place);
  const { maxUnavailable, maxSurge } = rolling;
  for (const [key, value] of [
    ['maxUnavailable', maxUnavailable],
    ['maxSurge', maxSurge],
  ] as const) {
    validateShare(value, place.child(key), faults);
    validateAtMostAll(value, place.child(key), faults);
  }
  const isUnavailable = shareNumber(maxUnavailable) !== 0;
  const isSurging = shareNumber(maxSurge) !== 0;
  if (isUnavailable && isSurging) {
    faults.invalid(place.child('maxSurge'), maxSurge, 'may not be set when maxUnavailable is non-zero');
  } else if (!isUnavailable && !isSurging) {
    faults.required(place.child('maxUnavailable'), 'cannot be 0 when maxSurge is 0');
  }
}
