import { cloneJson, type KubeObject } from '@asterism/machinery';
import { validateAutoscalerSpec } from './validation.ts';
import { validateCounts, specOf, STATUS, statusOf } from '../workload/validate-workload.ts';
import { type Fields, fieldsAt, listAt, optionalFields, setDefaults, setDefaultText } from '../fields/draft-fields.ts';
import { AUTOSCALER_ANNOTATIONS, horizontalPodAutoscalerV1 } from './v1.ts';
import type { Draft } from '../../contract/strategy.ts';
import type { Kind } from '../../contract/kind.ts';
import { collectFaults } from '../validation/faults.ts';

const DEFAULT_CPU_PERCENT = 80;
const DEFAULT_METRIC = {
  type: 'Resource',
  resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: DEFAULT_CPU_PERCENT } },
};
const DOUBLE_EVERY_15_SECONDS = { type: 'Percent', value: 100, periodSeconds: 15 };
const FOUR_PODS_EVERY_15_SECONDS = { type: 'Pods', value: 4, periodSeconds: 15 };

export const horizontalPodAutoscalerKind: Kind = {
  groupResource: 'horizontalpodautoscalers.autoscaling',
  conversions: { 'autoscaling/v1': horizontalPodAutoscalerV1 },
  // Without it `kubectl describe hpa` of 1.20 shows only the CPU metric.
  legacyVersions: [{ group: 'autoscaling', version: 'v2beta2', deprecated: 'v1.23', removed: 'v1.26' }],
  strategy: {
    applyDefaults(draft) {
      const spec = fieldsAt(draft, 'spec');
      setDefaults(spec, { minReplicas: 1 });
      // autoscaling/v1 knows one metric, and has a field for it.
      if (draft.apiVersion === 'autoscaling/v1')
        setDefaults(spec, { targetCPUUtilizationPercentage: DEFAULT_CPU_PERCENT });
      else if (listAt(spec, 'metrics').length === 0) spec.metrics = [cloneJson(DEFAULT_METRIC)];
      const behavior = optionalFields(spec, 'behavior');
      if (behavior) defaultBehavior(behavior);
    },

    prepareForCreate: (draft) => keepAnnotations(draft, undefined, 'status'),
    prepareForUpdate: (draft, old) => keepAnnotations(draft, old, 'status'),
    prepareForStatusUpdate: (draft, old) => keepAnnotations(draft, old, 'spec'),

    validate(object) {
      const asked = object.apiVersion === 'autoscaling/v1' ? horizontalPodAutoscalerV1.toStorage(object) : object;
      return collectFaults((faults) => validateAutoscalerSpec(specOf(asked), faults));
    },

    validateStatus: (object) =>
      collectFaults((faults) =>
        validateCounts(statusOf(object), ['currentReplicas', 'desiredReplicas'], STATUS, faults),
      ),
  },
};

function defaultBehavior(behavior: Fields): void {
  const up = fieldsAt(behavior, 'scaleUp');
  setDefaults(up, { stabilizationWindowSeconds: 0, policies: [FOUR_PODS_EVERY_15_SECONDS, DOUBLE_EVERY_15_SECONDS] });
  const down = fieldsAt(behavior, 'scaleDown');
  setDefaults(down, { policies: [DOUBLE_EVERY_15_SECONDS] });
  for (const rules of [up, down]) setDefaultText(rules, 'selectPolicy', 'Max');
}

/** Annotations that autoscaling/v1 has for the other half of the object are as they were: a write changes but one half. */
function keepAnnotations(draft: Draft, old: KubeObject | undefined, half: 'spec' | 'status'): void {
  if (draft.apiVersion !== 'autoscaling/v1') return;
  const annotations = { ...draft.metadata.annotations };
  for (const key of AUTOSCALER_ANNOTATIONS[half]) {
    const kept = old?.metadata?.annotations?.[key];
    if (kept === undefined) delete annotations[key];
    else annotations[key] = kept;
  }
  if (Object.keys(annotations).length > 0) draft.metadata.annotations = annotations;
  else delete draft.metadata.annotations;
}
