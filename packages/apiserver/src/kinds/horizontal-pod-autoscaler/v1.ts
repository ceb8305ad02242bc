import { formatApiVersion, type KubeObject, parseJson } from '@asterism/machinery';
import { type Fields, numberAt, optionalFields } from '../fields/draft-fields.ts';
import { fitsShape, LABEL_SELECTOR, type Shape } from './fits-shape.ts';
import type { Conversion } from '../../contract/conversion.ts';

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

/** What the fields of METRIC_FORMS are, by the last part of their names in v2. */
const METRIC_FIELDS: Readonly<Record<string, Shape>> = {
  averageUtilization: 'integer',
  averageValue: 'quantity',
  container: 'text',
  describedObject: { fields: { kind: 'text', name: 'text', apiVersion: 'text' } },
  name: 'text',
  selector: LABEL_SELECTOR,
  value: 'quantity',
};
const RULES: Shape = {
  fields: {
    stabilizationWindowSeconds: 'integer',
    selectPolicy: 'text',
    policies: { list: { fields: { type: 'text', value: 'integer', periodSeconds: 'integer' } } },
    tolerance: 'quantity',
  },
};
const BEHAVIOR_SHAPE: Shape = { fields: { scaleUp: RULES, scaleDown: RULES } };
const CONDITIONS_SHAPE: Shape = {
  list: { fields: { type: 'text', status: 'text', reason: 'text', message: 'text', lastTransitionTime: 'text' } },
};

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
    const parsedBehavior = parse(behavior, BEHAVIOR_SHAPE);
    const parsedConditions = parse(conditions, CONDITIONS_SHAPE);
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

function formOf({ type }: Fields): (typeof METRIC_FORMS)[string] | undefined {
  return typeof type === 'string' && Object.hasOwn(METRIC_FORMS, type) ? METRIC_FORMS[type] : undefined;
}

function metricToV1(metric: Fields, measure: Measure): Fields {
  const form = formOf(metric);
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
  const form = formOf(metric);
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
  const value = parse(text, { list: { fields: { type: 'text' } } });
  if (!Array.isArray(value) || !value.every((metric: Fields) => fitsForm(metric, measure))) return undefined;
  return value.filter(isFields).map((each) => metricFromV1(each, measure));
}

/** Whether what a metric of v1 says, in whichever of its members, can be read. */
function fitsForm(metric: Fields | null, measure: Measure): boolean {
  return Object.values(METRIC_FORMS).every(({ member, fields }) =>
    fitsShape(metric?.[member], {
      fields: Object.fromEntries(
        fields.map(([v2, v1]) => [v1.replace(/^T/, measure), METRIC_FIELDS[v2.split('.').at(-1) ?? ''] ?? 'text']),
      ),
    }),
  );
}

function parse(text: string | undefined, shape: Shape): unknown {
  if (!text) return undefined;
  try {
    const value = parseJson(text);
    return fitsShape(value, shape) ? value : undefined;
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
