import type { ControllerRevision, DaemonSet, Deployment, ReplicaSet, StatefulSet } from '../generated/apps-v1.ts';
import type { Scale } from '../generated/autoscaling-v1.ts';
import type { CronJob, Job } from '../generated/batch-v1.ts';
import type { PodTemplate, ReplicationController } from '../generated/core-v1.ts';
import type { PodDisruptionBudget } from '../generated/policy-v1.ts';
import { isConditionTrue } from '../conditions.ts';
import { NONE, booleanText, containerColumns, labelsText, selectorText } from './cell-text.ts';
import { formatAge, translateTimestampSince } from './format-age.ts';
import { AGE, NAME, type TablePrinter, boolean, definePrinter, integer, text, wide } from './table-printer.ts';

export const DEPLOYMENT_PRINTER: TablePrinter = definePrinter<Deployment>([
  NAME,
  text('Ready', ({ spec, status }) => `${status?.readyReplicas ?? 0}/${spec?.replicas ?? 0}`),
  text('Up-to-date', ({ status }) => status?.updatedReplicas ?? 0),
  text('Available', ({ status }) => status?.availableReplicas ?? 0),
  AGE,
  ...containerColumns<Deployment>(({ spec }) => spec?.template?.spec),
  ...wide<Deployment>(text('Selector', ({ spec }) => selectorText(spec?.selector, { none: '', faulty: '<invalid>' }))),
]);

export const REPLICA_SET_PRINTER: TablePrinter = definePrinter<ReplicaSet>([
  NAME,
  integer('Desired', ({ spec }) => spec?.replicas ?? 0),
  integer('Current', ({ status }) => status?.replicas ?? 0),
  integer('Ready', ({ status }) => status?.readyReplicas ?? 0),
  AGE,
  ...containerColumns<ReplicaSet>(({ spec }) => spec?.template?.spec),
  ...wide<ReplicaSet>(text('Selector', ({ spec }) => selectorText(spec?.selector))),
]);

export const REPLICATION_CONTROLLER_PRINTER: TablePrinter = definePrinter<ReplicationController>([
  NAME,
  integer('Desired', ({ spec }) => spec?.replicas ?? 0),
  integer('Current', ({ status }) => status?.replicas ?? 0),
  integer('Ready', ({ status }) => status?.readyReplicas ?? 0),
  AGE,
  ...containerColumns<ReplicationController>(({ spec }) => spec?.template?.spec),
  ...wide<ReplicationController>(text('Selector', ({ spec }) => labelsText(spec?.selector))),
]);

export const STATEFUL_SET_PRINTER: TablePrinter = definePrinter<StatefulSet>([
  NAME,
  text('Ready', ({ spec, status }) => `${status?.readyReplicas ?? 0}/${spec?.replicas ?? 0}`),
  AGE,
  ...containerColumns<StatefulSet>(({ spec }) => spec?.template?.spec),
]);

export const DAEMON_SET_PRINTER: TablePrinter = definePrinter<DaemonSet>([
  NAME,
  integer('Desired', ({ status }) => status?.desiredNumberScheduled ?? 0),
  integer('Current', ({ status }) => status?.currentNumberScheduled ?? 0),
  integer('Ready', ({ status }) => status?.numberReady ?? 0),
  integer('Up-to-date', ({ status }) => status?.updatedNumberScheduled ?? 0),
  integer('Available', ({ status }) => status?.numberAvailable ?? 0),
  text('Node Selector', ({ spec }) => labelsText(spec?.template?.spec?.nodeSelector)),
  AGE,
  ...containerColumns<DaemonSet>(({ spec }) => spec?.template?.spec),
  ...wide<DaemonSet>(text('Selector', ({ spec }) => selectorText(spec?.selector))),
]);

export const CONTROLLER_REVISION_PRINTER: TablePrinter = definePrinter<ControllerRevision>([
  NAME,
  text('Controller', controllerText),
  text('Revision', ({ revision }) => revision),
  AGE,
]);

export const JOB_PRINTER: TablePrinter = definePrinter<Job>([
  NAME,
  text('Status', jobStatus),
  text('Completions', jobCompletions),
  text('Duration', jobDuration),
  AGE,
  ...containerColumns<Job>(({ spec }) => spec?.template?.spec),
  ...wide<Job>(text('Selector', ({ spec }) => selectorText(spec?.selector))),
]);

export const CRON_JOB_PRINTER: TablePrinter = definePrinter<CronJob>([
  NAME,
  text('Schedule', ({ spec }) => spec?.schedule ?? ''),
  text('Timezone', ({ spec }) => spec?.timeZone ?? NONE),
  boolean('Suspend', ({ spec }) => booleanText(spec?.suspend)),
  integer('Active', ({ status }) => status?.active?.length ?? 0),
  text('Last Schedule', ({ status }, now) =>
    status?.lastScheduleTime ? translateTimestampSince(status.lastScheduleTime, now) : NONE,
  ),
  AGE,
  ...containerColumns<CronJob>(({ spec }) => spec?.jobTemplate?.spec?.template?.spec),
  ...wide<CronJob>(text('Selector', ({ spec }) => selectorText(spec?.jobTemplate?.spec?.selector))),
]);

export const POD_TEMPLATE_PRINTER: TablePrinter = definePrinter<PodTemplate>([
  NAME,
  text('Containers', ({ template }) => (template?.spec?.containers ?? []).map(({ name }) => name).join(',')),
  text('Images', ({ template }) => (template?.spec?.containers ?? []).map(({ image }) => image ?? '').join(',')),
  text('Pod Labels', ({ template }) => labelsText(template?.metadata?.labels)),
]);

export const POD_DISRUPTION_BUDGET_PRINTER: TablePrinter = definePrinter<PodDisruptionBudget>([
  NAME,
  text('Min Available', ({ spec }) => `${spec?.minAvailable ?? 'N/A'}`),
  text('Max Unavailable', ({ spec }) => `${spec?.maxUnavailable ?? 'N/A'}`),
  integer('Allowed Disruptions', ({ status }) => status?.disruptionsAllowed ?? 0),
  AGE,
]);

export const SCALE_PRINTER: TablePrinter = definePrinter<Scale>([
  text('Name', ({ metadata }) => metadata?.name ?? ''),
  integer('Desired', ({ spec }) => spec?.replicas ?? 0),
  integer('Available', ({ status }) => status?.replicas ?? 0),
  AGE,
]);

/** `statefulset.apps/web` for the owner that controls the object. */
function controllerText({ metadata }: ControllerRevision): string {
  const owner = metadata?.ownerReferences?.find(({ controller }) => controller);
  if (!owner) return NONE;
  const group = owner.apiVersion.includes('/') ? `.${owner.apiVersion.split('/')[0]}` : '';
  return `${owner.kind.toLowerCase()}${group}/${owner.name}`;
}

function jobStatus({ metadata, status }: Job): string {
  if (isConditionTrue(status?.conditions, 'Complete')) return 'Complete';
  if (isConditionTrue(status?.conditions, 'Failed')) return 'Failed';
  if (metadata?.deletionTimestamp) return 'Terminating';
  const [told] = ['Suspended', 'FailureTarget', 'SuccessCriteriaMet'].filter((type) =>
    isConditionTrue(status?.conditions, type),
  );
  return told ?? 'Running';
}

/** Without `completions` one success is enough, however many pods run at once. */
function jobCompletions({ spec, status }: Job): string {
  const succeeded = status?.succeeded ?? 0;
  if (typeof spec?.completions === 'number') return `${succeeded}/${spec.completions}`;
  const parallelism = spec?.parallelism ?? 0;
  return parallelism > 1 ? `${succeeded}/1 of ${parallelism}` : `${succeeded}/1`;
}

function jobDuration({ status }: Job, now: number): string {
  if (!status?.startTime) return '';
  const end = status.completionTime ? Date.parse(status.completionTime) : now;
  return formatAge(end - Date.parse(status.startTime));
}
