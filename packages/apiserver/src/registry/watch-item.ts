import { StatusError } from '@asterism/machinery';
import { StoredObject } from '../storage/stored-object.ts';
import type { WatchEventType, WatchItem } from './registry.ts';
import type { Stored } from '../contract/stored.ts';
import type { ServedVersion } from './served-version.ts';

/** One event, encoded at the first request and shared by everyone who sends it. */
export class EncodedWatchItem implements WatchItem {
  readonly type: WatchEventType;
  readonly object: Stored;
  #line: Buffer | undefined;

  constructor(type: WatchEventType, object: Stored) {
    this.type = type;
    this.object = object;
  }

  line(): Buffer {
    this.#line ??= Buffer.concat([Buffer.from(`{"type":"${this.type}","object":`), this.object.bytes, LINE_END]);
    return this.#line;
  }
}

const LINE_END = Buffer.from('}\n');
/** KEP-3157: the bookmark that ends the initial events carries this. */
const INITIAL_EVENTS_END = { 'k8s.io/initial-events-end': 'true' };

/** A promise that everything up to `revision` has been sent. */
export function bookmarkItem(resource: ServedVersion, revision: number, initialEventsEnd = false): EncodedWatchItem {
  // A built-in kind is a Go struct upstream, and shows the fields that such a one always has.
  const zero = resource.storage === 'builtin' ? resource.structural?.zero : undefined;
  const { spec, annotations } = resource.strategy.bookmark ?? {};
  const object = {
    kind: resource.type.kind,
    apiVersion: resource.apiVersion,
    ...zero,
    ...(spec ? { spec: { ...(zero?.spec as object | undefined), ...spec } } : {}),
    metadata: {
      resourceVersion: String(revision),
      ...(annotations || initialEventsEnd
        ? { annotations: { ...annotations, ...(initialEventsEnd ? INITIAL_EVENTS_END : {}) } }
        : {}),
    },
  };
  return new EncodedWatchItem('BOOKMARK', new StoredObject(Buffer.from(JSON.stringify(object)), revision, object));
}

/** How a watch ends that has already been answered with 200. */
export function errorItem({ status }: StatusError, revision: number): EncodedWatchItem {
  const { kind, apiVersion, ...rest } = status;
  const object = { kind, apiVersion, ...rest };
  return new EncodedWatchItem('ERROR', new StoredObject(Buffer.from(JSON.stringify(object)), revision));
}
