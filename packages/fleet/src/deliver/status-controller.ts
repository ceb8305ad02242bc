import { formatTime } from '@asterism/machinery';
import { type Clock, type ReconcileContext, removeFinalizer, type Request, type Result } from '@asterism/runtime';
import type { AggregatedStatusItem } from '../api/index.ts';
import { type Binding, bindingType, WORKS_FINALIZER } from '../template/binding-client.ts';
import { templateKeyOf } from '../template/template-key.ts';
import type { DeliveryView } from './delivery-view.ts';
import { aggregateStatus } from './interpret/aggregate-status.ts';
import type { Aggregation } from './interpret/aggregation.ts';
import { type BindingStatus, bindingStatus, isPending, memberReport, sameStatus } from './report/binding-status.ts';
import type { Coalescer } from './report/coalescer.ts';
import { mayWait, type News, type Standing } from './report/may-wait.ts';
import { patchStatus } from './report/patch-status.ts';

export interface StatusOptions {
  clock: Clock;
  coalescer: Coalescer;
  /** How long changes are gathered before one write. */
  coalesceMs: number;
  /** For how long while a cluster has not answered to the last change, or a rollout is under way. */
  patienceMs: number;
}

/**
 * Carries what clusters report up: into the binding's status, and into the template's own.
 *
 * U1  One write at each for all that changes within `coalesceMs`, or longer where many change at once (see Coalescer); none
 *     where nothing changed. Until then nobody looks: see `gather` of the controller.
 * U2  While a cluster has not answered to the last change, the others' news wait for it, but no longer than `patienceMs`; so do
 *     those of a rollout that is under way, unless something went wrong (see mayWait).
 * U3  A binding that goes stays until its Works are gone, and with them what they made, and until its template says no more what they
 *     told. That costs a write only where the template stays (see letGo).
 */
export async function reconcileStatus(
  view: DeliveryView,
  request: Request,
  context: ReconcileContext,
  { clock, coalescer, coalesceMs, patienceMs }: StatusOptions,
): Promise<Result | void> {
  const { cluster, signal } = context;
  const key = statusKey(request);
  const now = formatTime(clock.wall().getTime());
  const binding = view.bindings.get(request);
  if (binding?.metadata.deletionTimestamp) {
    coalescer.settled(key);
    return letGo(view, binding, context, now);
  }
  const template = binding && (await view.template(binding, signal));
  if (!template) return coalescer.settled(key);
  const targets = await view.targets(binding, template);
  const reports = targets.map((target) => view.statuses.trusted(memberReport(target)));
  const wanted = bindingStatus(binding, { targets, retained: view.retained(binding) }, now);
  const wasPlaced = binding.status?.aggregatedStatus !== undefined;
  const wantedOfTemplate = aggregateStatus({ template, reports, now, wasPlaced });
  const bindingSays = sameStatus(binding.status, wanted);
  const templateSays = wantedOfTemplate === undefined || view.statuses.says(template, wantedOfTemplate);
  if (bindingSays && templateSays) return coalescer.settled(key);
  const waits = targets.some(isPending) || mayWait(newsOf(binding, wanted));
  const requeueAfter = coalescer.remaining(key, waits ? patienceMs : coalesceMs);
  if (requeueAfter > 0) return { requeueAfter };
  coalescer.settled(key);
  const type = bindingType(binding.metadata.namespace);
  const told = templateSays ? undefined : tell(view, { template, reports, now, wasPlaced }, wantedOfTemplate, context);
  // What is taken back goes first: the binding alone tells, also a hub that was killed, that there is something to take back.
  if (targets.length === 0) await told;
  await Promise.all([told, bindingSays ? undefined : patchStatus(cluster.client, type, binding, wanted, { signal })]);
}

/**
 * Takes back what a template was told, once nothing of it stands anywhere, and lets its binding go. A hub that is killed in between finds
 * the binding, and begins anew.
 *
 * What stays in the members because of `preserveResourcesOnDeletion` counts as gone: it is nobody's now, and would be told as ready
 * here long after it broke. A template that goes as well, or is gone, is told nothing.
 */
async function letGo(view: DeliveryView, binding: Binding, context: ReconcileContext, now: string): Promise<void> {
  const { cluster, signal } = context;
  if (view.works.ofBinding(binding.metadata.uid).length > 0) return;
  const template = await view.template(binding, signal);
  const status = template && aggregateStatus({ template, reports: [], now, wasPlaced: true });
  if (status && !view.statuses.says(template, status))
    await tell(view, { template, reports: [], now, wasPlaced: true }, status, context);
  const type = bindingType(binding.metadata.namespace);
  await removeFinalizer(cluster.client, { type, object: binding, finalizer: WORKS_FINALIZER, signal });
}

/**
 * Writes the template's status. Where its API server refuses that, the clusters whose report it refuses by itself are left out: nobody
 * but them waits until they report something else.
 */
async function tell(
  view: DeliveryView,
  aggregation: Aggregation,
  status: object,
  { signal, logger }: ReconcileContext,
): Promise<void> {
  const { template, reports } = aggregation;
  const refusal = await view.statuses.write(template, status, signal);
  if (refusal === undefined) return;
  logger.warn({ template: templateKeyOf(template) }, `its status is not told: ${refusal}`);
  if (reports.length < 2) return;
  let found = false;
  for (const report of reports) {
    const alone = aggregateStatus({ ...aggregation, reports: [report] });
    if (!report.status || !alone || (await view.statuses.wouldTake(template, alone, signal))) continue;
    logger.warn(
      { template: templateKeyOf(template), cluster: report.cluster },
      'the status of this cluster is left out',
    );
    view.statuses.distrust(report);
    found = true;
  }
  if (!found) return;
  const others = aggregateStatus({ ...aggregation, reports: reports.map((report) => view.statuses.trusted(report)) });
  if (others) await view.statuses.write(template, others, signal);
}

/** By what the {@link StatusOptions.coalescer} knows a binding. */
export function statusKey({ namespace = '', name }: Request): string {
  return `${namespace}/${name}`;
}

function newsOf({ status }: Binding, wanted: BindingStatus): News[] {
  const told = new Map(status?.aggregatedStatus?.map((item) => [item.clusterName, standingOf(item)]));
  const items = wanted.aggregatedStatus ?? [];
  return items.map((item) => ({ told: told.get(item.clusterName), now: standingOf(item), changing: false }));
}

function standingOf({ applied, appliedMessage, health, status }: AggregatedStatusItem): Standing {
  return { applied: applied === true, health, status, message: appliedMessage };
}
