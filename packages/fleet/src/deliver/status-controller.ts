import type { KubeObject } from '@asterism/machinery';
import type { Clock, ReconcileContext, Request, Result } from '@asterism/runtime';
import type { AggregatedStatusItem } from '../api/index.ts';
import { type Binding, bindingType } from '../place/binding-client.ts';
import type { DeliveryView } from './delivery-view.ts';
import { aggregateStatus } from './interpret/aggregate-status.ts';
import {
  type BindingStatus,
  bindingStatus,
  isPending,
  memberReport,
  sameStatus,
  type Target,
} from './report/binding-status.ts';
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
 */
export async function reconcileStatus(
  view: DeliveryView,
  request: Request,
  { cluster, signal, logger }: ReconcileContext,
  { clock, coalescer, coalesceMs, patienceMs }: StatusOptions,
): Promise<Result | void> {
  const key = statusKey(request);
  const binding = view.bindings.get(request);
  const template = binding && (await view.template(binding, signal));
  if (!binding || !template || binding.metadata.deletionTimestamp) return coalescer.settled(key);
  const targets = await view.targets(binding, template);
  const now = new Date(clock.now()).toISOString().replace(/\.\d+Z$/, 'Z');
  const wanted = bindingStatus(binding, { targets, retained: view.retained(binding) }, now);
  const wantedOfTemplate = templateStatus(template, targets, now);
  const bindingSays = sameStatus(binding.status, wanted);
  const templateSays = wantedOfTemplate === undefined || view.says(template, wantedOfTemplate);
  if (bindingSays && templateSays) return coalescer.settled(key);
  const waits = targets.some(isPending) || mayWait(newsOf(binding, wanted));
  const requeueAfter = coalescer.remaining(key, waits ? patienceMs : coalesceMs);
  if (requeueAfter > 0) return { requeueAfter };
  coalescer.settled(key);
  const type = bindingType(binding.metadata.namespace);
  const [refusal] = await Promise.all([
    templateSays ? undefined : view.reportTo(template, wantedOfTemplate, signal),
    bindingSays ? undefined : patchStatus(cluster.client, type, binding, wanted, signal),
  ]);
  if (refusal !== undefined) logger.warn({ template: binding.spec.resource }, `its status is not told: ${refusal}`);
}

/** By what the {@link StatusOptions.coalescer} knows a binding. */
export function statusKey({ namespace = '', name }: Request): string {
  return `${namespace}/${name}`;
}

function templateStatus(template: KubeObject, targets: readonly Target[], now: string): object | undefined {
  return aggregateStatus({ template, reports: targets.map(memberReport), now });
}

function newsOf({ status }: Binding, wanted: BindingStatus): News[] {
  const told = new Map(status?.aggregatedStatus?.map((item) => [item.clusterName, standingOf(item)]));
  const items = wanted.aggregatedStatus ?? [];
  return items.map((item) => ({ told: told.get(item.clusterName), now: standingOf(item), changing: false }));
}

function standingOf({ applied, appliedMessage, health, status }: AggregatedStatusItem): Standing {
  return { applied: applied === true, health, status, message: appliedMessage };
}
