import type { Client } from '@asterism/client';
import { isNotFound, SECRETS } from '@asterism/machinery';
import { addFinalizer, removeFinalizer } from '@asterism/runtime';
import {
  type Cluster,
  CLUSTER_TOKEN_GROUP_PREFIX,
  clusterNamespace,
  CLUSTERS,
  LEAVE_ANNOTATION,
  LEAVE_FINALIZER,
  WORKS,
  type Work,
} from '../../api/index.ts';
import type { LeaveMode } from './leave-state.ts';
import { removeRegistrations } from './remove-registrations.ts';

/**
 * Asks the hub to let a cluster go in order: from then on it does so by itself, whoever asked may end. Asked again it goes on; the
 * mode may be another then. Resolves when it is asked, not when it is done.
 */
export async function askToLeave(hub: Client, cluster: Cluster, mode: LeaveMode, signal?: AbortSignal): Promise<void> {
  const { name = '', uid, deletionTimestamp } = cluster.metadata;
  const clusters = hub.resource(CLUSTERS);
  const body = { metadata: { uid, annotations: { [LEAVE_ANNOTATION]: mode } } };
  // Before the finalizer, so that nobody ever sees a cluster leave without knowing how.
  await clusters.patch({ name }, { type: 'merge', body }, { signal });
  await addFinalizer(hub, { type: CLUSTERS, object: cluster, finalizer: LEAVE_FINALIZER, signal });
  if (deletionTimestamp === undefined) await remove(hub, cluster, signal);
}

/**
 * Takes a cluster out of the hub at once, whatever becomes of the member: its agent's identity is worth nothing from then on and its
 * tunnel is cut. What was placed and what the join made stay in the member: an agent that still listens is told to let go of it
 * before it hears that the Works are gone.
 */
export async function forceOut(hub: Client, cluster: Cluster, signal?: AbortSignal): Promise<void> {
  await askToLeave(hub, cluster, 'Keep', signal);
  const { items } = await hub
    .resource(WORKS)
    .list({ namespace: clusterNamespace(cluster.metadata.name ?? ''), signal });
  for (let from = 0; from < items.length; from += AT_ONCE) {
    await Promise.all(items.slice(from, from + AT_ONCE).map((work) => preserve(hub, work, signal)));
  }
  const { finalizers = [], ...metadata } = cluster.metadata;
  // As it is now: what was read before it was asked to leave does not have it.
  const object = { ...cluster, metadata: { ...metadata, finalizers: [...new Set([...finalizers, LEAVE_FINALIZER])] } };
  await removeFinalizer(hub, { type: CLUSTERS, object, finalizer: LEAVE_FINALIZER, signal });
  await removeRegistrations(hub, cluster, signal);
}

const AT_ONCE = 50;

/** So that the end of a Work is not the end of what it placed. */
export async function preserve(hub: Client, { metadata, spec }: Work, signal: AbortSignal | undefined): Promise<void> {
  if (spec.preserveResourcesOnDeletion) return;
  const { name = '', namespace, uid } = metadata;
  const body = [
    { op: 'test', path: '/metadata/uid', value: uid },
    { op: 'add', path: '/spec/preserveResourcesOnDeletion', value: true },
  ];
  await ignoreNotFound(hub.resource(WORKS).patch({ namespace, name }, { type: 'json', body }, { signal }));
}

async function remove(hub: Client, { metadata }: Cluster, signal: AbortSignal | undefined): Promise<void> {
  const { name = '', uid } = metadata;
  const deleting = hub.resource(CLUSTERS).delete({ name }, { preconditions: { uid }, signal });
  await ignoreNotFound(deleting);
}

/**
 * Deletes the bootstrap tokens that were made for this cluster alone: with one of them it could join again.
 *
 * @returns how many there were
 */
export async function removeTokensOf(hub: Client, clusterName: string, signal?: AbortSignal): Promise<number> {
  const secrets = hub.resource(SECRETS);
  const options = { namespace: 'kube-system', fieldSelector: 'type=bootstrap.kubernetes.io/token', signal };
  const { items } = await secrets.list(options);
  const own = items.filter(({ data }) => {
    const groups = Buffer.from(data?.['auth-extra-groups'] ?? '', 'base64').toString();
    return groups.split(',').includes(CLUSTER_TOKEN_GROUP_PREFIX + clusterName);
  });
  for (const { metadata } of own) {
    const { name = '', namespace } = metadata ?? {};
    await ignoreNotFound(secrets.delete({ namespace, name }, { signal }));
  }
  return own.length;
}

async function ignoreNotFound(writing: Promise<unknown>): Promise<void> {
  await writing.catch((error: unknown) => {
    if (!isNotFound(error)) throw error;
  });
}
