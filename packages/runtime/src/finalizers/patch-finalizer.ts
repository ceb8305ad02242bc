import type { Client } from '@asterism/client';
import {
  isNotFound,
  isStatusError,
  type JsonPatchOperation,
  type KubeObject,
  type ResourceType,
} from '@asterism/machinery';

/** How often a patch is made anew from the object as it has become. */
const TRIES = 5;

/**
 * Whose finalizer, and which.
 *
 * @example {@link addFinalizer}
 */
export interface FinalizerTarget<T extends KubeObject> {
  type: ResourceType<T>;
  /** As it was read, with its uid. It may be older than what the server has. */
  object: T;
  /** `example.dev/cleanup`. */
  finalizer: string;
  signal?: AbortSignal | undefined;
}

/**
 * Puts the finalizer on the object, unless it is there or the object is being deleted, and touches nothing else: what others put
 * there in the meantime stays. Gives the object as it is then, or undefined where it is gone (another of its name is
 * another object). One that is being deleted comes back without the finalizer.
 *
 * @throws StatusError where the server refuses, ClientError where it does not answer.
 * @example
 * ```ts
 * const target = { type: DEPLOYMENTS, object: deployment, finalizer: 'example.dev/copies', signal };
 * const held = await addFinalizer(cluster.client, target);
 * ```
 */
export function addFinalizer<T extends KubeObject>(client: Client, target: FinalizerTarget<T>): Promise<T | undefined> {
  return patchUntilSettled(client, target, ({ metadata }) => {
    const { deletionTimestamp, finalizers = [] } = metadata ?? {};
    if (deletionTimestamp || finalizers.includes(target.finalizer)) return undefined;
    const path = '/metadata/finalizers';
    if (finalizers.length > 0)
      return [test(path, finalizers), { op: 'add', path: `${path}/-`, value: target.finalizer }];
    return [test(path, null), { op: 'add', path, value: [target.finalizer] }];
  });
}

/**
 * Takes the finalizer off the object, and only that. Gives the object as it is then, or undefined where it is gone, as it is
 * when this was the last thing that kept it.
 *
 * @throws StatusError where the server refuses, ClientError where it does not answer.
 * @example
 * ```ts
 * await removeFinalizer(cluster.client, { type: DEPLOYMENTS, object: deployment, finalizer: 'example.dev/copies', signal });
 * ```
 */
export function removeFinalizer<T extends KubeObject>(
  client: Client,
  target: FinalizerTarget<T>,
): Promise<T | undefined> {
  return patchUntilSettled(client, target, ({ metadata }) => {
    const index = metadata?.finalizers?.indexOf(target.finalizer) ?? -1;
    const path = `/metadata/finalizers/${index}`;
    return index < 0 ? undefined : [test(path, target.finalizer), { op: 'remove', path }];
  });
}

/**
 * A patch that was made of what the cache had, and that no longer fits, is a 422: the object is then read from the server.
 *
 * @param patchOf undefined where nothing is to be done
 */
async function patchUntilSettled<T extends KubeObject>(
  client: Client,
  { type, object, signal }: FinalizerTarget<T>,
  patchOf: (object: T) => JsonPatchOperation[] | undefined,
): Promise<T | undefined> {
  const { namespace, name = '', uid } = object.metadata ?? {};
  const objects = client.resource(type);
  const ref = { namespace: type.namespaced ? namespace : undefined, name };
  let current = object;
  for (let tries = 1; ; tries++) {
    const patch = patchOf(current);
    if (!patch) return current;
    try {
      return await objects.patch(
        ref,
        { type: 'json', body: [test('/metadata/uid', uid ?? null), ...patch] },
        { signal },
      );
    } catch (error) {
      if (isNotFound(error)) return undefined;
      if (!isStatusError(error, 'Invalid') || tries === TRIES) throw error;
    }
    const live = await objects.get(ref, { signal }).catch(undefinedWhereGone);
    if (live?.metadata?.uid !== uid) return undefined;
    current = live as T;
  }
}

function test(path: string, value: unknown): JsonPatchOperation {
  return { op: 'test', path, value };
}

function undefinedWhereGone(error: unknown): undefined {
  if (!isNotFound(error)) throw error;
}
