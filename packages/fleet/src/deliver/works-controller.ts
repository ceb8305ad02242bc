import type { Client } from '@asterism/client';
import { isAlreadyExists, isStatusError } from '@asterism/machinery';
import type { ReconcileContext, Request } from '@asterism/runtime';
import { WORKS, type Work } from '../api/index.ts';
import type { Binding } from '../template/binding-client.ts';
import { isDispatchingSuspended } from '../template/dispatch-suspension.ts';
import { workloadOf } from '../template/workload.ts';
import { isAway } from './cluster-away.ts';
import type { DeliveryView } from './delivery-view.ts';
import type { FollowersFirst } from './followers-first.ts';
import { overrideFaults } from './override/unapplied-overrides.ts';
import type { Target } from './report/binding-status.ts';
import { refusalWords } from './report/refusal-words.ts';
import { clusterOfWork, newWork, suspensionPatch, workPatch } from './works/work-object.ts';
import { deleteWork } from './works/works.ts';

/**
 * Brings the Works of one binding to what it says: one in the namespace of each chosen cluster, none anywhere else.
 *
 * W1  A cluster whose overrides cannot be applied keeps what it has; the others go on.
 * W2  A cluster that leaves is given nothing, and its Works are not for this controller: whether what they placed stays is said
 *     elsewhere.
 * W3  The Works of a binding that goes go too, and the binding after them (see U3 of reconcileStatus). That holds while dispatching is
 *     suspended too: with the binding goes who could lift it.
 * W4  A cluster that is held back and chosen no more keeps what it has, as its Work does, until it is held back no more: that a
 *     decision came out otherwise is nobody's wish to delete there.
 * W5  While a newly chosen cluster is away and has nothing of it yet, clusters that are chosen no more keep what they have: what
 *     moves is never nowhere for want of an answer.
 * W6  A template whose replicas have changed waits for its binding to say so, whatever else has changed with them: members see one
 *     change as one. The binding does say so, soon, also where what was decided stays as it is.
 * W7  What a template takes along has its Works first (see FollowersFirst), for the executor applies what it knows of. Until then
 *     nothing is removed elsewhere.
 */
export async function reconcileWorks(
  view: DeliveryView,
  request: Request,
  context: ReconcileContext,
  followers: FollowersFirst,
): Promise<void> {
  const { cluster, signal } = context;
  const binding = view.bindings.get(request);
  if (!binding) return;
  if (binding.metadata.deletionTimestamp) {
    followers.forget(binding);
    return finish(view, binding, context);
  }
  const template = await view.template(binding, signal);
  if (!template) return; // the binding follows its template, or goes with it
  if (binding.spec.replicas !== workloadOf(template)?.replicas) return; // placement writes it, which comes back here (W6)
  const targets = await view.targets(binding, template);
  const chosen = new Set(targets.map((target) => target.cluster));
  const others = view.works
    .ofBinding(binding.metadata.uid)
    .filter((work) => !chosen.has(clusterOfWork(work)) && !view.isLeaving(clusterOfWork(work)));
  const changing = targets.filter(({ rendered, upToDate, suspended }) => rendered && !upToDate && !suspended);
  const clusters = changing.map((target) => target.cluster);
  const heldBack = await followers.awaitedIn(binding, template, clusters, signal);
  const ready = targets.filter((target) => !heldBack.has(target.cluster));
  const comesLater = heldBack.size > 0 || targets.some((target) => isAwaited(view, target));
  const outcomes = await Promise.allSettled([
    ...ready.map((target) => handOver(view, binding, target, context)),
    ...others.map((work) =>
      isDispatchingSuspended(binding.spec, clusterOfWork(work))
        ? patchWork(cluster.client, work, suspensionPatch(work), signal)
        : comesLater || deleteWork(cluster.client, work, signal),
    ),
  ]);
  const failed = outcomes.find((outcome) => outcome.status === 'rejected');
  if (failed) throw failed.reason;
}

function isAwaited(view: DeliveryView, { cluster: name, work }: Target): boolean {
  const cluster = view.cluster(name);
  const hasIt = work?.status?.manifestStatuses?.some(({ observedGeneration }) => observedGeneration !== undefined);
  return cluster !== undefined && isAway(cluster) && !hasIt;
}

/** What an API server answers where it understood a request and does not take what is in it: bad, too large, not valid. */
const REFUSED = new Set([400, 413, 422]);

/** Writes one Work. That the hub itself refuses it is told in the binding's status, and tried again later. */
async function handOver(
  view: DeliveryView,
  binding: Binding,
  target: Target,
  context: ReconcileContext,
): Promise<void> {
  try {
    await view.renderer.pace.run(() => writeWork(context.cluster.client, binding, target, context.signal));
    view.refusals.note(binding, target.cluster, undefined);
  } catch (error) {
    if (isStatusError(error) && REFUSED.has(error.code)) {
      const words = refusalWords(error, binding.spec.resource);
      view.refusals.note(binding, target.cluster, `the hub does not take the Work: ${words}`);
    }
    throw error;
  }
}

async function writeWork(client: Client, binding: Binding, target: Target, signal: AbortSignal): Promise<void> {
  const { rendered, work, cluster } = target;
  if (!rendered || overrideFaults(rendered.unapplied).length > 0 || work?.metadata.deletionTimestamp) return;
  if (work) return patchWork(client, work, workPatch(work, binding, rendered), signal);
  try {
    await client.resource(WORKS).create(newWork(binding, cluster, rendered), { signal });
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
    const why = `the Work of a binding that was deleted is still there in cluster ${cluster}: it must go first`;
    throw new Error(why, { cause: error });
  }
}

async function patchWork(
  client: Client,
  { metadata: { name = '', namespace, deletionTimestamp } }: Work,
  body: object[] | undefined,
  signal: AbortSignal,
): Promise<void> {
  if (!body || deletionTimestamp) return;
  await client.resource(WORKS).patch({ namespace, name }, { type: 'json', body }, { signal });
}

async function finish(view: DeliveryView, binding: Binding, { cluster, signal }: ReconcileContext): Promise<void> {
  const works = view.works.ofBinding(binding.metadata.uid);
  await Promise.all(works.map((work) => deleteWork(cluster.client, work, signal)));
  for (const target of binding.spec.clusters ?? []) view.refusals.note(binding, target.name, undefined);
}
