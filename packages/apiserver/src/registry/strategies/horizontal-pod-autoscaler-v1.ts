import { formatApiVersion, type KubeObject } from '@asterism/machinery';
import type { Conversion } from '../served-version.ts';
import { type Fields, numberAt, optionalFields } from './draft-fields.ts';

const PREFIX = 'autoscaling.alpha.kubernetes.io/';

/** Annotations by which autoscaling/v1 says what its fields cannot: of the spec, and of the status. */
export const AUTOSCALER_ANNOTATIONS = {
  spec: [`${PREFIX}metrics`, `${PREFIX}behavior`],
  status: [`${PREFIX}current-metrics`, `${PREFIX}conditions`],
} as const;

const [METRICS, BEHAVIOR] = AUTOSCALER_ANNOTATIONS.spec;
const [CURRENT_METRICS, CONDITIONS] = AUTOSCALER_ANNOTATIONS.status;

/** By type of metric: its member, and the fields of that in v2 (`T`: `target` of a spec, `current` of a status) and in v1. */
const METRIC_FORMS: Readonly<
  Record<string, { member: string; fields: readonly (readonly [v2: string, v1: string])[] }>
> = {
  Resource: {
    member: 'resource',
    fields: [
      ['name', 'name'],
      ['T.averageUtilization', 'TAverageUtilization'],
      ['T.averageValue', 'TAverageValue'],
    ],
  },
  ContainerResource: {
    member: 'containerResource',
    fields: [
      ['name', 'name'],
      ['T.averageUtilization', 'TAverageUtilization'],
      ['T.averageValue', 'TAverageValue'],
      ['container', 'container'],
    ],
  },
  Pods: {
    member: 'pods',
    fields: [
      ['metric.name', 'metricName'],
      ['T.averageValue', 'TAverageValue'],
      ['metric.selector', 'selector'],
    ],
  },
  Object: {
    member: 'object',
    fields: [
      ['describedObject', 'target'],
      ['metric.name', 'metricName'],
      ['T.value', 'TValue'],
      ['metric.selector', 'selector'],
      ['T.averageValue', 'averageValue'],
    ],
  },
  External: {
    member: 'external',
    fields: [
      ['metric.name', 'metricName'],
      ['metric.selector', 'metricSelector'],
      ['T.value', 'TValue'],
      ['T.averageValue', 'TAverageValue'],
    ],
  },
};

type Measure = 'target' | 'current';

/** autoscaling/v1 as a view of the stored v2. */
export const horizontalPodAutoscalerV1: Conversion = {
  fromStorage(object) {
    const { metrics, behavior, ...spec } = (object.spec ?? {}) as Fields;
    const cpu = listOf(metrics).find((metric) => cpuPercentOf(metric, 'target') !== undefined);
    const others = listOf(metrics).filter((metric) => metric !== cpu);
    const { currentMetrics, conditions, ...status } = (object.status ?? {}) as Fields;
    const measured = listOf(currentMetrics);
    const annotations: Record<string, string> = { ...object.metadata?.annotations };
    if (others.length > 0) annotations[METRICS] = JSON.stringify(others.map((each) => metricToV1(each, 'target')));
    if (behavior) annotations[BEHAVIOR] = JSON.stringify(behavior);
    if (measured.length > 0) {
      annotations[CURRENT_METRICS] = JSON.stringify(measured.map((each) => metricToV1(each, 'current')));
    }
    if (listOf(conditions).length > 0) annotations[CONDITIONS] = JSON.stringify(conditions);
    const percent = measured.map((each) => cpuPercentOf(each, 'current')).find((each) => each !== undefined);
    return {
      ...object,
      apiVersion: formatApiVersion({ group: 'autoscaling', version: 'v1' }),
      metadata: { ...object.metadata, ...(Object.keys(annotations).length > 0 ? { annotations } : {}) },
      spec: { ...spec, ...(cpu ? { targetCPUUtilizationPercentage: cpuPercentOf(cpu, 'target') } : {}) },
      status: {
        currentReplicas: 0,
        ...status,
        ...(percent === undefined ? {} : { currentCPUUtilizationPercentage: percent }),
      },
    } as KubeObject;
  },

  toStorage(object) {
    const { targetCPUUtilizationPercentage: percent, ...spec } = (object.spec ?? {}) as Fields;
    const { currentCPUUtilizationPercentage: current, ...status } = (object.status ?? {}) as Fields;
    const {
      [METRICS]: others,
      [BEHAVIOR]: behavior,
      [CURRENT_METRICS]: measured,
      [CONDITIONS]: conditions,
      ...annotations
    } = object.metadata?.annotations ?? {};
    const metadata = { ...object.metadata, annotations };
    if (Object.keys(annotations).length === 0) delete (metadata as Fields).annotations;
    const cpuOf = (measure: Measure, averageUtilization: unknown): Fields => ({
      type: 'Resource',
      resource: {
        name: 'cpu',
        [measure]: { ...(measure === 'target' ? { type: 'Utilization' } : {}), averageUtilization },
      },
    });
    const parsedBehavior = parse(behavior);
    const parsedConditions = parse(conditions);
    const currentMetrics =
      parsedMetrics(measured, 'current') ?? (current === undefined ? null : [cpuOf('current', current)]);
    return {
      ...object,
      apiVersion: formatApiVersion({ group: 'autoscaling', version: 'v2' }),
      metadata,
      spec: {
        ...spec,
        metrics: [
          ...(parsedMetrics(others, 'target') ?? []),
          ...(percent === undefined ? [] : [cpuOf('target', percent)]),
        ],
        ...(isFields(parsedBehavior) ? { behavior: parsedBehavior } : {}),
      },
      status: {
        currentMetrics,
        ...status,
        ...(Array.isArray(parsedConditions) ? { conditions: parsedConditions } : {}),
      },
    } as KubeObject;
  },
};

function cpuPercentOf(metric: Fields, measure: Measure): number | undefined {
  const resource = metric.type === 'Resource' ? optionalFields(metric, 'resource') : undefined;
  return resource?.name === 'cpu' ? numberAt(optionalFields(resource, measure), 'averageUtilization') : undefined;
}

function metricToV1(metric: Fields, measure: Measure): Fields {
  const form = METRIC_FORMS[String(metric.type)];
  if (!form) return metric;
  const source = optionalFields(metric, form.member);
  const shown: Fields = {};
  for (const [v2, v1] of form.fields) {
    const [first = '', second] = v2.replace(/^T/, measure).split('.');
    const value = second === undefined ? source?.[first] : optionalFields(source, first)?.[second];
    if (value !== undefined) shown[v1.replace(/^T/, measure)] = value;
  }
  return { type: metric.type, [form.member]: shown };
}

function metricFromV1(metric: Fields, measure: Measure): Fields {
  const form = METRIC_FORMS[String(metric.type)];
  if (!form) return metric;
  const shown = optionalFields(metric, form.member);
  const source: Fields = {};
  for (const [v2, v1] of form.fields) {
    const [first = '', second] = v2.replace(/^T/, measure).split('.');
    const value = shown?.[v1.replace(/^T/, measure)];
    if (value === undefined) continue;
    if (second === undefined) source[first] = value;
    else source[first] = { ...(source[first] as Fields | undefined), [second]: value };
  }
  if (measure === 'target') source.target = { type: targetTypeOf(metric.type, source), ...(source.target as Fields) };
  return { type: metric.type, [form.member]: source };
}

function targetTypeOf(metricType: unknown, source: Fields): string {
  const target = optionalFields(source, 'target') ?? {};
  if (target.averageUtilization !== undefined) return 'Utilization';
  if (metricType === 'External' && target.value !== undefined) return 'Value';
  return metricType === 'Object' && target.averageValue === undefined ? 'Value' : 'AverageValue';
}

/** Undefined where there is no list: as upstream, what cannot be read is as if it were not there. */
function parsedMetrics(text: string | undefined, measure: Measure): Fields[] | undefined {
  const value = parse(text);
  return Array.isArray(value) ? value.filter(isFields).map((each) => metricFromV1(each, measure)) : undefined;
}

function parse(text: string | undefined): unknown {
  if (!text) return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function listOf(value: unknown): Fields[] {
  return Array.isArray(value) ? (value as Fields[]) : [];
}
