import type { HorizontalPodAutoscalerV1 } from '../generated/autoscaling-v1.ts';
import type {
  HorizontalPodAutoscaler,
  MetricSpec,
  MetricStatus,
  MetricTarget,
  MetricValueStatus,
} from '../generated/autoscaling-v2.ts';
import { NONE, UNKNOWN, UNSET, abridge } from './cell-text.ts';
import { AGE, NAME, type TablePrinter, definePrinter, text } from './table-printer.ts';

type Autoscaler = HorizontalPodAutoscaler | HorizontalPodAutoscalerV1;

/** For both versions of the API; the first knows one metric, the CPU. */
export const AUTOSCALER_PRINTER: TablePrinter = definePrinter<Autoscaler>([
  NAME,
  text('Reference', ({ spec }) => `${spec?.scaleTargetRef?.kind ?? ''}/${spec?.scaleTargetRef?.name ?? ''}`),
  text('Targets', (autoscaler) => abridge(targets(autoscaler), 2, ', ') || NONE),
  text('MinPods', ({ spec }) => `${spec?.minReplicas ?? UNSET}`),
  text('MaxPods', ({ spec }) => spec?.maxReplicas ?? 0),
  text('Replicas', ({ status }) => status?.currentReplicas ?? 0),
  AGE,
]);

function targets({ spec, status }: Autoscaler): string[] {
  if (spec && 'targetCPUUtilizationPercentage' in spec) {
    const current =
      status && 'currentCPUUtilizationPercentage' in status ? status.currentCPUUtilizationPercentage : undefined;
    return [`cpu: ${percent(current)}/${percent(spec.targetCPUUtilizationPercentage)}`];
  }
  const specs = (spec && 'metrics' in spec && spec.metrics) || [];
  const statuses = (status && 'currentMetrics' in status && status.currentMetrics) || [];
  return specs.map((metric, i) => metricText(metric, statuses[i]));
}

/** `current/target`, before it the name of the resource if the metric is one. */
function metricText(spec: MetricSpec, status: MetricStatus | undefined): string {
  switch (spec.type) {
    case 'Resource':
      return `${spec.resource?.name}: ${resourceText(spec.resource?.target, status?.resource?.current)}`;
    case 'ContainerResource':
      return `${spec.containerResource?.name}: ${resourceText(spec.containerResource?.target, status?.containerResource?.current)}`;
    case 'Pods':
      return `${status?.pods ? (status.pods.current?.averageValue ?? NIL) : UNKNOWN}/${spec.pods?.target?.averageValue ?? NIL}`;
    case 'Object':
      return valueText(spec.object?.target, status?.object?.current);
    case 'External':
      return valueText(spec.external?.target, status?.external?.current);
    default:
      return '<unknown type>';
  }
}

function resourceText(target: MetricTarget | undefined, current: MetricValueStatus | undefined): string {
  if (target?.averageValue !== undefined) {
    return `${current ? (current.averageValue ?? NIL) : UNKNOWN}/${target.averageValue}`;
  }
  const wanted = target?.averageUtilization === undefined ? '<auto>' : percent(target.averageUtilization);
  return `${percent(current?.averageUtilization)}/${wanted}`;
}

function valueText(target: MetricTarget | undefined, current: MetricValueStatus | undefined): string {
  if (target?.averageValue !== undefined) return `${current?.averageValue ?? UNKNOWN}/${target.averageValue} (avg)`;
  return `${current ? (current.value ?? NIL) : UNKNOWN}/${target?.value ?? NIL}`;
}

/** A quantity that was left out, as Go prints it. */
const NIL = '<nil>';

function percent(value: number | undefined): string {
  return value === undefined ? UNKNOWN : `${value}%`;
}
