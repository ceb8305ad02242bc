import type { Client, ObjectRef, ResourceClient } from '@asterism/client';
import {
  CLUSTER_ROLE_BINDINGS,
  CLUSTER_ROLES,
  deepEqual,
  isAlreadyExists,
  isNotFound,
  type KubeObject,
  LEASES,
  NAMESPACES,
  objectKey,
  type ResourceType,
  ROLE_BINDINGS,
  ROLES,
  SECRETS,
} from '@asterism/machinery';
import type { Cluster } from '../../api/index.ts';
import { clusterAccess } from './cluster-access.ts';

/**
 * Makes what {@link clusterAccess} says, and puts right what differs; writes nothing where all is as it should be. Rejects
 * where something of that name belongs to an earlier cluster that is still being removed: taking it over would hand one
 * cluster's things to another.
 */
export async function ensureClusterAccess(client: Client, cluster: Cluster, signal?: AbortSignal): Promise<void> {
  const access = clusterAccess(cluster);
  const ensure = <T extends KubeObject>(type: ResourceType<T>, desired: T) =>
    ensureObject(client, type, desired, signal);
  await ensure(NAMESPACES, access.namespace);
  await ensure(LEASES, access.lease);
  if (access.credential) await ensure(SECRETS, access.credential);
  await ensure(ROLES, access.role);
  await ensure(ROLE_BINDINGS, access.roleBinding);
  await ensure(CLUSTER_ROLES, access.clusterRole);
  await ensure(CLUSTER_ROLE_BINDINGS, access.clusterRoleBinding);
}

/** What the hub decides of these objects. A Lease's and a Secret's content is the agent's; `roleRef` cannot change. */
const DECIDED = ['rules', 'subjects'] as const;

async function ensureObject<T extends KubeObject>(
  client: Client,
  type: ResourceType<T>,
  desired: T,
  signal: AbortSignal | undefined,
): Promise<void> {
  const resource = client.resource(type);
  const { name = '', namespace } = desired.metadata ?? {};
  const live = await readOrCreate(resource, desired, { name, namespace }, signal);
  const owner = controllerUid(live);
  if ((owner !== undefined && owner !== controllerUid(desired)) || live.metadata?.deletionTimestamp !== undefined) {
    throw new Error(
      `${type.kind} ${objectKey(live)} belongs to an earlier cluster of this name, which is still being removed`,
    );
  }
  // An API server leaves out what is empty.
  if (owner !== undefined && DECIDED.every((field) => deepEqual(live[field] ?? [], desired[field] ?? []))) return;
  const decided = Object.fromEntries(
    DECIDED.filter((field) => field in desired).map((field) => [field, desired[field]]),
  );
  await resource.update({ ...live, ...decided, metadata: { ...live.metadata, ...ownership(desired) } }, { signal });
}

/** Two controllers ensure a new cluster's access at the same time, so an object may appear between the two calls. */
async function readOrCreate<T extends KubeObject>(
  resource: ResourceClient<T>,
  desired: T,
  ref: ObjectRef,
  signal: AbortSignal | undefined,
): Promise<T> {
  try {
    return await resource.get(ref, { signal });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
  try {
    return await resource.create(desired, { signal });
  } catch (error) {
    if (isAlreadyExists(error)) return await resource.get(ref, { signal });
    throw error;
  }
}

function controllerUid(object: KubeObject): string | undefined {
  return object.metadata?.ownerReferences?.find((owner) => owner.controller)?.uid;
}

function ownership({ metadata }: KubeObject) {
  return { labels: metadata?.labels ?? {}, ownerReferences: metadata?.ownerReferences ?? [] };
}
