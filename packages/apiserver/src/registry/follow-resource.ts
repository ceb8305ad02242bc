import { type KubeObject, objectKey, type ObjectMeta, type ResourceType } from '@asterism/machinery';
import type { Registry } from './registry.ts';
import type { ServedResource } from '../contract/served-resource.ts';

export interface ResourceFollower {
  /** An object is there, or has changed. Also called for all of them again when the watch had to begin anew. */
  onApply(object: KubeObject): void;
  onDelete(object: FollowedObject): void;
}

/** What is remembered of an object for the moment in which it is gone. */
export interface FollowedObject {
  readonly metadata: Pick<ObjectMeta, 'name' | 'namespace'>;
}

export interface Following {
  /** Fulfilled when all objects of the beginning have been told. */
  synced: Promise<void>;
  /** Fulfilled when the signal has ended it; rejects where the registry fails. */
  ended: Promise<void>;
}

/**
 * Tells of every object of a built-in resource: first all, then each change in order, until the signal. For parts of the
 * server that must know without asking; a change is told before the answer to its write reaches the client. A damaged object is as
 * one that does not exist: roles and requests that cannot be read grant nothing.
 */
export function followResource(
  registry: Registry,
  type: ResourceType,
  follower: ResourceFollower,
  signal: AbortSignal,
): Following {
  const resource = registry.find(type.group, type.version, type.resource);
  if (resource === undefined) throw new Error(`${type.resource} of ${type.group || 'the core group'} is not served`);
  const synced = Promise.withResolvers<void>();
  const ended = follow(registry, resource, follower, signal, synced.resolve).catch((error: unknown) => {
    synced.reject(error);
    if (!signal.aborted) throw error;
  });
  return { synced: synced.promise, ended };
}

async function follow(
  registry: Registry,
  resource: ServedResource,
  follower: ResourceFollower,
  signal: AbortSignal,
  onSynced: () => void,
): Promise<void> {
  const known = new Map<string, FollowedObject>();
  while (!signal.aborted) {
    const list = await registry.list(resource, { signal, skipDamaged: true });
    const gone = new Map(known);
    known.clear();
    for (const stored of list.items) {
      const object = stored.parse();
      known.set(objectKey(object), placeOf(object));
      gone.delete(objectKey(object));
      follower.onApply(object);
    }
    for (const object of gone.values()) follower.onDelete(object);
    onSynced();
    const stream = await registry.watch(resource, { resourceVersion: list.resourceVersion, signal });
    for await (const { type, object: stored } of stream) {
      if (type === 'ERROR') break;
      if (type === 'BOOKMARK') continue;
      const object = stored.parse();
      if (type === 'DELETED') known.delete(objectKey(object));
      else known.set(objectKey(object), placeOf(object));
      if (type === 'DELETED') follower.onDelete(placeOf(object));
      else follower.onApply(object);
    }
  }
}

function placeOf({ metadata: { name, namespace } = {} }: KubeObject): FollowedObject {
  return { metadata: namespace === undefined ? { name } : { name, namespace } };
}
