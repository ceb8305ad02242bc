import { EVENTS, isNotFound, type KubeObject } from '@asterism/machinery';
import type { Stored } from '../contract/stored.ts';
import { requireResource } from '../registry/require-resource.ts';
import { type Controller, type ControllerOptions, writeContext } from './controller-options.ts';
import { WriteTimes } from './write-times.ts';
import type { ServedResource } from '../contract/served-resource.ts';

export interface ExpiryControllerOptions extends ControllerOptions {
  /** How long an Event lives after its last write. Default one hour, as upstream. */
  eventMilliseconds?: number;
  /** How often to look. Default one minute. */
  intervalMilliseconds?: number;
}

const HOUR_MS = 60 * 60_000;
const MINUTE_MS = 60_000;

/**
 * Deletes Events that nobody has written to for an hour, which is what etcd's leases do upstream. How old one is tells its
 * resourceVersion, so that only the first look reads them.
 */
export function startExpiryController(options: ExpiryControllerOptions): Controller {
  const { signal, onError } = options;
  const events = requireResource(options.registry, EVENTS);
  const times = new WriteTimes();
  let sweeping: Promise<void> = Promise.resolve();
  const timer = setInterval(() => {
    sweeping = sweep(options, events, times).catch((error: unknown) => onError('expiry of events', error));
  }, options.intervalMilliseconds ?? MINUTE_MS);
  timer.unref();
  signal.addEventListener('abort', () => clearInterval(timer), { once: true });
  return { settled: () => sweeping };
}

async function sweep(options: ExpiryControllerOptions, events: ServedResource, times: WriteTimes): Promise<void> {
  const { registry, clock, signal } = options;
  const { items } = await registry.list(events, { skipDamaged: true });
  if (times.isEmpty) readTimes(items, times);
  times.note(Number(registry.resourceVersion), clock());
  const expired = times.revisionBy(clock() - (options.eventMilliseconds ?? HOUR_MS));
  for (const item of items) {
    if (signal.aborted) return;
    if (Number(item.resourceVersion) > expired) continue;
    const { namespace, name = '', resourceVersion } = item.parse().metadata ?? {};
    const preconditions = { resourceVersion };
    await registry
      .delete(events, { namespace, name }, { preconditions }, writeContext(options, namespace))
      .catch(absent);
  }
}

/** What was there before this process. */
function readTimes(items: readonly Stored[], times: WriteTimes): void {
  const byRevision = items.toSorted((a, b) => Number(a.resourceVersion) - Number(b.resourceVersion));
  for (const item of byRevision) times.note(Number(item.resourceVersion), lastWrite(item.parse()));
}

/** Milliseconds since 1970. */
function lastWrite({ metadata = {} }: KubeObject): number {
  const times = [metadata.creationTimestamp, ...(metadata.managedFields ?? []).map(({ time }) => time)];
  return Math.max(...times.map((time) => (time ? Date.parse(time) : 0)));
}

/** Gone, or written to since: either way not ours to delete any more. */
function absent(error: unknown): undefined {
  if (!isNotFound(error) && !(error instanceof Error && 'reason' in error && error.reason === 'Conflict')) throw error;
}
