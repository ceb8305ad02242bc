import { cloneJson, formatApiVersion, type KubeObject } from '@asterism/machinery';
import type { Conversion } from '../served-version.ts';
import type { Strategy } from '../strategy.ts';
import { checkAutoscalerSpec } from './check-autoscaler.ts';
import { checkCounts, faultsOf, specOf, STATUS, statusOf } from './check-workload.ts';
import {
  type Fields,
  fieldsAt,
  listAt,
  numberAt,
  optionalFields,
  setDefaults,
  setDefaultText,
} from './draft-fields.ts';

const DEFAULT_CPU_PERCENT = 80;
const DEFAULT_METRIC = {
  type: 'Resource',
  resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: DEFAULT_CPU_PERCENT } },
};
const DOUBLE_EVERY_15_SECONDS = { type: 'Percent', value: 100, periodSeconds: 15 };
const FOUR_PODS_EVERY_15_SECONDS = { type: 'Pods', value: 4, periodSeconds: 15 };

export const horizontalPodAutoscalerStrategy: Strategy = {
  validatesEnums: true,

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

  validate(object) {
    const asked = object.apiVersion === 'autoscaling/v1' ? horizontalPodAutoscalerV1.toStorage(object) : object;
    return faultsOf((faults) => checkAutoscalerSpec(specOf(asked), faults));
  },

  validateStatus: (object) =>
    faultsOf((faults) => checkCounts(statusOf(object), ['currentReplicas', 'desiredReplicas'], STATUS, faults)),
};

function defaultBehavior(behavior: Fields): void {
  const up = fieldsAt(behavior, 'scaleUp');
  setDefaults(up, { stabilizationWindowSeconds: 0, policies: [FOUR_PODS_EVERY_15_SECONDS, DOUBLE_EVERY_15_SECONDS] });
  const down = fieldsAt(behavior, 'scaleDown');
  setDefaults(down, { policies: [DOUBLE_EVERY_15_SECONDS] });
  for (const rules of [up, down]) setDefaultText(rules, 'selectPolicy', 'Max');
}

/** Where autoscaling/v1 keeps what its fields cannot say. */
const METRICS_ANNOTATION = 'autoscaling.alpha.kubernetes.io/metrics';
const BEHAVIOR_ANNOTATION = 'autoscaling.alpha.kubernetes.io/behavior';

/** autoscaling/v1 as a view of the stored v2. */
export const horizontalPodAutoscalerV1: Conversion = {
  fromStorage(object) {
    const { metrics, behavior, ...spec } = (object.spec ?? {}) as Fields;
    const isCpu = (metric: Fields): boolean => cpuPercentOf(metric) !== undefined;
    const all = Array.isArray(metrics) ? (metrics as Fields[]) : [];
    const cpu = all.find(isCpu);
    const others = all.filter((metric) => metric !== cpu);
    const annotations = {
      ...object.metadata?.annotations,
      ...(others.length > 0 ? { [METRICS_ANNOTATION]: JSON.stringify(others) } : {}),
      ...(behavior ? { [BEHAVIOR_ANNOTATION]: JSON.stringify(behavior) } : {}),
    };
    const { currentMetrics: _, conditions: _conditions, ...status } = (object.status ?? {}) as Fields;
    return {
      ...object,
      apiVersion: formatApiVersion({ group: 'autoscaling', version: 'v1' }),
      metadata: { ...object.metadata, ...(Object.keys(annotations).length > 0 ? { annotations } : {}) },
      spec: { ...spec, ...(cpu ? { targetCPUUtilizationPercentage: cpuPercentOf(cpu) } : {}) },
      status: { currentReplicas: 0, ...status },
    } as KubeObject;
  },

  toStorage(object) {
    const { targetCPUUtilizationPercentage: percent, ...spec } = (object.spec ?? {}) as Fields;
    const {
      [METRICS_ANNOTATION]: others,
      [BEHAVIOR_ANNOTATION]: behavior,
      ...annotations
    } = object.metadata?.annotations ?? {};
    const cpu = {
      type: 'Resource',
      resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: percent } },
    };
    const metadata = { ...object.metadata, annotations };
    if (Object.keys(annotations).length === 0) delete (metadata as Fields).annotations;
    const { currentCPUUtilizationPercentage: _, ...status } = (object.status ?? {}) as Fields;
    return {
      ...object,
      apiVersion: formatApiVersion({ group: 'autoscaling', version: 'v2' }),
      metadata,
      spec: {
        ...spec,
        metrics: [...(percent === undefined ? [] : [cpu]), ...parseList(others)],
        ...(behavior ? { behavior: JSON.parse(behavior) as unknown } : {}),
      },
      status: { currentMetrics: null, ...status },
    } as KubeObject;
  },
};

function cpuPercentOf(metric: Fields): number | undefined {
  const resource = optionalFields(metric, 'resource');
  return resource?.name === 'cpu' ? numberAt(optionalFields(resource, 'target'), 'averageUtilization') : undefined;
}

function parseList(text: string | undefined): unknown[] {
  if (!text) return [];
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? value : [];
  } catch {
    return [];
  }
}
