import type { KubeObject } from '@asterism/machinery';
import { iterate } from '../waiting/iterate.ts';
import { ResourceWatcher } from './resource-watcher.ts';
import type {
  OnWatcherEvent,
  WatchableResource,
  WatcherEvent,
  WatchResourceOptions,
  WatchSource,
} from './watch-contract.ts';

/**
 * Follows all objects of a kind (or those that are selected). Never ends but by its signal: every failure is waited out and
 * taken up where it stopped.
 *
 * W1 Every event and bookmark moves the resourceVersion on; a watch resumes from there without a new list.
 * W2 Delays grow from 0.8 s to 30 s with jitter and are reset only by two minutes of health, or when a server that gave no
 *    answer is seen to answer again; Retry-After is obeyed.
 * W3 Lists ask for what the server has (`0`), then for nothing older than what was seen, and for the newest (``) when the
 *    server cannot give that.
 * W4 A server that says nothing, or ends every watch at once, is a failure like one that refuses.
 * W5 A watch that ended before its time is resumed only at a server that has come as far: one that was restored from a backup
 *    would open it all the same, and tell nothing until its resourceVersions have grown to the one that was seen.
 *
 * @example
 * ```ts
 * await followResource(client.resource(PODS), { namespace: 'shop', signal }, (event) => {
 *   if (event.type === 'Delete') logger.info({ pod: event.object.metadata?.name }, 'is gone');
 * });
 * ```
 */
export function followResource<T extends KubeObject>(
  source: WatchableResource<T> | (() => WatchSource<T>),
  options: WatchResourceOptions,
  onEvent: OnWatcherEvent<T>,
): Promise<void> {
  const from = typeof source === 'function' ? source : (): WatchSource<T> => ({ client: source });
  return new ResourceWatcher(from, options, onEvent).run();
}

/**
 * {@link followResource}, to be iterated over. Leaving the loop ends it.
 *
 * @example
 * ```ts
 * for await (const event of watchResource(client.resource(PODS), { namespace: 'shop', signal })) {
 *   if (event.type === 'Apply' || event.type === 'InitApply') logger.info({ pod: event.object.metadata?.name }, 'is there');
 * }
 * ```
 */
export function watchResource<T extends KubeObject>(
  source: WatchableResource<T> | (() => WatchSource<T>),
  options: WatchResourceOptions,
): AsyncIterableIterator<WatcherEvent<T>> {
  return iterate(options.signal, (signal, give) => followResource(source, { ...options, signal }, give));
}
