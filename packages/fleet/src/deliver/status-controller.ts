import type { Client } from '@asterism/client';
import { isNotFound, type KubeObject } from '@asterism/machinery';
import type { Clock, ReconcileContext, Request, Result } from '@asterism/runtime';
import { type Binding, bindingType } from '../place/binding-client.ts';
import { bindingStatus, isPending, memberReport, sameStatus, type Target } from './binding-status.ts';
import type { Coalescer } from './coalescer.ts';
import type { DeliveryView } from './delivery-view.ts';
import { aggregateStatus } from './interpret/aggregate-status.ts';

export interface StatusOptions {
  clock: Clock;
  coalescer: Coalescer;
  /** How long changes are gathered before one write. */
  coalesceMs: number;
  /** How long a cluster may take to answer before the status says that it did not. */
  patienceMs: number;
}

/**
 * Carries what clusters report up: into the binding's status, and into the template's own.
 *
 * U1  One write at each for all that changes within `coalesceMs`; none where nothing changed.
 * U2  While a cluster has not answered to the last change, the others' news wait for it, but no longer than `patienceMs`.
 */
export async function reconcileStatus(
  view: DeliveryView,
  request: Request,
  { cluster, signal }: ReconcileContext,
  { clock, coalescer, coalesceMs, patienceMs }: StatusOptions,
): Promise<Result | void> {
  const key = `${request.namespace ?? ''}/${request.name}`;
  const binding = view.bindings.get(request);
  const template = binding && (await view.template(binding, signal));
  if (!binding || !template || binding.metadata.deletionTimestamp) return coalescer.settled(key);
  const targets = view.targets(binding, template);
  const now = new Date(clock.now()).toISOString().replace(/\.\d+Z$/, 'Z');
  const wanted = bindingStatus(binding, targets, now);
  const wantedOfTemplate = templateStatus(template, targets, now);
  const bindingSays = sameStatus(binding.status, wanted);
  const templateSays = wantedOfTemplate === undefined || sameStatus(template['status'], wantedOfTemplate);
  if (bindingSays && templateSays) return coalescer.settled(key);
  const requeueAfter = coalescer.remaining(key, targets.some(isPending) ? patienceMs : coalesceMs);
  if (requeueAfter > 0) return { requeueAfter };
  coalescer.settled(key);
  const { client } = cluster;
  await Promise.all([
    bindingSays ? undefined : patchStatus(client, bindingType(binding.metadata.namespace), binding, wanted, signal),
    templateSays ? undefined : patchTemplateStatus(client, template, wantedOfTemplate, signal),
  ]);
}

function templateStatus(template: KubeObject, targets: readonly Target[], now: string): object | undefined {
  return aggregateStatus({ template, reports: targets.map(memberReport), now });
}

async function patchTemplateStatus(
  client: Client,
  template: KubeObject,
  status: object,
  signal: AbortSignal,
): Promise<void> {
  await patchStatus(client, await client.discovery.typeFor(template), template, status, signal);
}

async function patchStatus(
  client: Client,
  type: Parameters<Client['resource']>[0],
  object: KubeObject | Binding,
  status: object,
  signal: AbortSignal,
): Promise<void> {
  const { name = '', namespace, uid } = object.metadata ?? {};
  const body = [
    { op: 'test', path: '/metadata/uid', value: uid },
    { op: 'add', path: '/status', value: status },
  ];
  const options = { subresource: 'status', signal };
  try {
    await client.resource(type).patch({ namespace, name }, { type: 'json', body }, options);
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}
