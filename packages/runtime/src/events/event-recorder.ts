import { hostname } from 'node:os';
import { type Clock, systemClock } from '@asterism/client';
import {
  type EventEvents,
  formatMicroTime,
  type KubeObject,
  type ObjectReference,
  validateDns1123Subdomain,
  validateQualifiedName,
} from '@asterism/machinery';
import type { Cluster } from '../cluster/cluster.ts';
import type { Logger } from '../log/logger.ts';
import type { Manager, Runnable } from '../lifecycle/manager.ts';
import { ClusterEvents } from './cluster-events.ts';
import { cutToBytes } from './event-correlator.ts';

/** Bytes that the server takes of these texts. */
const MAX_NAME_BYTES = 253;
const MAX_TEXT_BYTES = 128;
const MAX_NOTE_BYTES = 1_024;
/** How long a stop waits for what has not been told yet. */
const FLUSH_MS = 5_000;

/**
 * Who reports, and to whom.
 *
 * @example {@link createEventRecorder}
 */
export interface EventRecorderOptions {
  manager: Pick<Manager, 'cluster'>;
  /** Who reports: a qualified name such as `example.dev/settings`. */
  reportingController: string;
  /** Which of its processes, cut to 128 bytes. Default: the controller's name and the host's. */
  reportingInstance?: string | undefined;
  logger: Logger;
  clock?: Clock | undefined;
  random?: (() => number) | undefined;
}

/**
 * What happened to an object.
 *
 * @example {@link createEventRecorder}
 */
export interface RecordedEvent {
  /** Why, for machines: `JobCreated`. At most 128 bytes; few different ones. */
  reason: string;
  /** What was done, or tried: `CreateJob`. At most 128 bytes. */
  action: string;
  /** For people; cut to 1024 bytes. */
  note: string;
  /** Another object that it is about. */
  related?: KubeObject | undefined;
}

/**
 * Tells people what happens to objects. It never waits, and no cluster that cannot be told is an error.
 *
 * @example {@link createEventRecorder}
 */
export interface EventRecorder extends Runnable {
  /**
   * As things should go. The event is written to that cluster (`''`: the local one), into the object's namespace, or `default`.
   *
   * @throws TypeError for an object without kind, apiVersion and name, and for a reason or action that no server takes.
   */
  normal(cluster: string, regarding: KubeObject, event: RecordedEvent): void;
  /** The same of something that somebody should look at. */
  warning(cluster: string, regarding: KubeObject, event: RecordedEvent): void;
}

/**
 * A recorder of `events.k8s.io/v1` for all clusters of a manager. The same event again is not written again but counted, in a
 * series; events that differ in their notes alone are combined from the eleventh on; an object that has too many loses some; and
 * a cluster that does not answer keeps the last thousand waiting, and no other cluster. What the server has not been told
 * of a series when the manager stops is told then, in at most 5 s, if the recorder was added to it.
 *
 * @throws TypeError for a controller's name that is not qualified.
 * @example
 * ```ts
 * const events = createEventRecorder({ manager, reportingController: 'example.dev/settings', logger });
 * manager.add(events);
 * events.normal(request.cluster, deployment, { reason: 'Applied', action: 'Apply', note: 'applied 3 settings' });
 * ```
 */
export function createEventRecorder(options: EventRecorderOptions): EventRecorder {
  return new ManagedEventRecorder(options);
}

class ManagedEventRecorder implements EventRecorder {
  readonly name = 'event recorder';
  /** Wherever something is recorded. */
  readonly needsLeadership = false;
  readonly #options: EventRecorderOptions;
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #instance: string;
  readonly #clusters = new Map<string, ClusterEvents>();

  constructor(options: EventRecorderOptions) {
    const { reportingController, reportingInstance, clock = systemClock, random = Math.random } = options;
    const faults = validateQualifiedName(reportingController);
    if (faults.length > 0) {
      throw new TypeError(`the reporting controller "${reportingController}" is no good: ${faults.join('; ')}`);
    }
    this.#options = options;
    this.#clock = clock;
    this.#random = random;
    this.#instance = cutToBytes(reportingInstance ?? `${reportingController}-${hostname()}`, MAX_TEXT_BYTES);
  }

  normal(cluster: string, regarding: KubeObject, event: RecordedEvent): void {
    this.#record(cluster, this.#draft('Normal', regarding, event));
  }

  warning(cluster: string, regarding: KubeObject, event: RecordedEvent): void {
    this.#record(cluster, this.#draft('Warning', regarding, event));
  }

  async run(signal: AbortSignal): Promise<void> {
    if (!signal.aborted) {
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
    }
    const flushed = Promise.all([...this.#clusters.values()].map((events) => events.flush()));
    const { promise: late, resolve } = Promise.withResolvers<void>();
    const cancel = this.#clock.setTimer(resolve, FLUSH_MS);
    await Promise.race([flushed, late]);
    cancel();
  }

  #record(name: string, event: EventEvents): void {
    const cluster = this.#options.manager.cluster(name);
    if (cluster) this.#eventsOf(cluster).add(event);
  }

  #eventsOf(cluster: Cluster): ClusterEvents {
    const { name } = cluster;
    const present = this.#clusters.get(name);
    if (present?.cluster === cluster) return present;
    const logger = this.#options.logger.child(name ? { cluster: name } : {});
    const events = new ClusterEvents(cluster, { clock: this.#clock, random: this.#random, logger });
    this.#clusters.set(name, events);
    const forget = (): void => {
      if (this.#clusters.get(name) === events) this.#clusters.delete(name);
    };
    cluster.signal.addEventListener('abort', forget, { once: true });
    return events;
  }

  #draft(type: 'Normal' | 'Warning', regarding: KubeObject, event: RecordedEvent): EventEvents {
    const { reason, action, note, related } = event;
    for (const [field, text] of Object.entries({ reason, action })) {
      if (text === '' || Buffer.byteLength(text) > MAX_TEXT_BYTES) {
        throw new TypeError(`an event's ${field} has 1 to ${MAX_TEXT_BYTES} bytes, and this not: "${text}"`);
      }
    }
    const now = this.#clock.wall().getTime();
    return {
      apiVersion: 'events.k8s.io/v1',
      kind: 'Event',
      metadata: {
        namespace: regarding.metadata?.namespace ?? 'default',
        name: eventName(regarding.metadata?.name ?? '', now, this.#random()),
      },
      eventTime: formatMicroTime(now),
      type,
      reason,
      action,
      note: cutToBytes(note, MAX_NOTE_BYTES),
      regarding: referenceTo(regarding),
      ...(related ? { related: referenceTo(related) } : {}),
      reportingController: this.#options.reportingController,
      reportingInstance: this.#instance,
    };
  }
}

function referenceTo({ apiVersion, kind, metadata = {} }: KubeObject): ObjectReference {
  const { namespace, name, uid, resourceVersion } = metadata;
  if (!apiVersion || !kind || !name) {
    throw new TypeError(
      `an event regards an object with apiVersion, kind and name, and not ${kind ?? '?'} "${name ?? ''}"`,
    );
  }
  return { apiVersion, kind, namespace, name, uid, resourceVersion } as ObjectReference;
}

/** `web.18c2f3a91b7.3f29a1c04d5e6`: the object's name where that is one of an event too, the time and a random number. */
function eventName(name: string, now: number, random: number): string {
  const suffix = `.${now.toString(16)}.${Math.floor(random * 2 ** 52).toString(16)}`;
  const base = name.slice(0, MAX_NAME_BYTES - suffix.length);
  return validateDns1123Subdomain(base + suffix).length === 0 ? base + suffix : `event${suffix}`;
}
