import { cacheKey } from './cache-key.ts';
import type { CacheEvent } from './resource-cache.ts';
import type { LoggedChange } from './storage.ts';
import { StoredObject, withRevision } from './stored-object.ts';
import { revisionOf } from './stored-revision.ts';

/** The events of one resource from their log, backwards: what a change made is what the next one found, or what is there now. */
export function rebuildEvents(log: readonly LoggedChange[], objects: ReadonlyMap<string, StoredObject>): CacheEvent[] {
  const after = new Map<string, StoredObject>(objects);
  const events: CacheEvent[] = [];
  for (const { type, namespace, name, revision, time, previous: bytes } of log.toReversed()) {
    const key = cacheKey(namespace, name);
    const previous = bytes && new StoredObject(bytes, revisionOf(bytes));
    const object = type === 'delete' && previous ? withRevision(previous, revision) : after.get(key);
    if (!object) continue;
    events.push({ type, key, namespace, revision, time, object, previous });
    if (previous) after.set(key, previous);
    else after.delete(key);
  }
  return events.reverse();
}
