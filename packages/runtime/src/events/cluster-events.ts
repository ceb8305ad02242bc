import { ClientError, type Clock, sleep } from '@asterism/client';
import {
  type EventEvents,
  EVENTS_EVENTS,
  formatMicroTime,
  isAlreadyExists,
  isNotFound,
  isStatusError,
} from '@asterism/machinery';
import { backoff } from '../waiting/backoff.ts';
import type { Cluster } from '../cluster/cluster.ts';
import { NotLeadingError } from '../leader/leader-election.ts';
import type { Logger } from '../log/logger.ts';
import { EventCorrelator, type EventSeries } from './event-correlator.ts';

/** How often it is looked for series that are due. */
const SWEEP_MS = 60_000;
/** Writes that may wait for a cluster that does not answer. */
const MAX_PENDING = 1_000;
/** How often a write is tried that the server answers with a fault of its own. */
const MAX_TRIES = 12;
const BETWEEN = { initialMs: 1_000, factor: 2, capMs: 30_000, jitter: 0.5 };

export interface ClusterEventsOptions {
  clock: Clock;
  random: () => number;
  logger: Logger;
}

/** The events of one cluster on their way there, one write after the other, until the cluster is disengaged. */
export class ClusterEvents {
  readonly cluster: Cluster;
  readonly #options: ClusterEventsOptions;
  readonly #correlator: EventCorrelator;
  readonly #pending = new Set<EventSeries>();
  #writing: Promise<void> | undefined;
  #cancelSweep: (() => void) | undefined;
  /** Said once, until a write succeeds. */
  #complained = false;

  constructor(cluster: Cluster, options: ClusterEventsOptions) {
    this.cluster = cluster;
    this.#options = options;
    this.#correlator = new EventCorrelator(() => options.clock.wall());
    cluster.signal.addEventListener('abort', () => this.#cancelSweep?.(), { once: true });
  }

  add(event: EventEvents): void {
    if (this.cluster.signal.aborted) return;
    const { reason, regarding } = event;
    const series = this.#correlator.observe(event, this.#options.clock.monotonic());
    if (series === 'dropped') {
      const fields = { reason, kind: regarding?.kind, namespace: regarding?.namespace, name: regarding?.name };
      this.#options.logger.debug(fields, 'an event was dropped: there are too many of this object');
    } else if (series !== 'later') this.#enqueue(series);
    this.#sweepLater();
  }

  /** Resolves when the server has been told of all that there is. */
  async flush(): Promise<void> {
    for (const series of this.#correlator.unwritten()) this.#enqueue(series);
    while (this.#writing) await this.#writing;
  }

  #enqueue(series: EventSeries): void {
    this.#pending.add(series);
    if (this.#pending.size > MAX_PENDING) {
      const [oldest] = this.#pending;
      if (oldest) this.#abandon(oldest, new Error(`more than ${MAX_PENDING} events wait for the cluster`));
    }
    this.#writing ??= this.#writeAll();
  }

  async #writeAll(): Promise<void> {
    for (const series of this.#pending) {
      await this.#write(series);
      if (this.cluster.signal.aborted) this.#pending.clear();
    }
    this.#writing = undefined;
  }

  async #write(series: EventSeries): Promise<void> {
    const { clock, random } = this.#options;
    const delays = backoff({ ...BETWEEN, random });
    for (let tries = 1; this.#pending.has(series); tries++) {
      const { count } = series;
      try {
        await this.#send(series, count);
        Object.assign(series, { written: count, writtenAt: clock.monotonic() });
        this.#complained = false;
        // Those that came while the first was under way are told with it; the next ones have time.
        if (count > 1 || series.count === count) this.#pending.delete(series);
      } catch (error) {
        if (this.cluster.signal.aborted) return;
        if (!mayPass(error, tries)) return this.#abandon(series, error);
        await sleep(clock, Math.max(delays.next(), askedDelay(error)), this.cluster.signal).catch(() => {});
        if (this.cluster.signal.aborted) return;
      }
    }
  }

  async #send({ event, written, lastObservedTime }: EventSeries, count: number): Promise<void> {
    const events = this.cluster.client.resource(EVENTS_EVENTS);
    const { signal } = this.cluster;
    const { namespace, name = '' } = event.metadata ?? {};
    const series = { count, lastObservedTime: formatMicroTime(lastObservedTime.getTime()) };
    try {
      if (written > 0) {
        await events.patch({ namespace, name }, { type: 'merge', body: { series } }, { signal });
        return;
      }
    } catch (error) {
      if (!isNotFound(error)) throw error; // Else the server has forgotten it, as it does after an hour.
    }
    try {
      await events.create(count > 1 ? { ...event, series } : event, { signal });
    } catch (error) {
      if (!isAlreadyExists(error)) throw error; // Else the answer to an earlier try was lost.
    }
  }

  #abandon(series: EventSeries, error: unknown): void {
    this.#pending.delete(series);
    this.#correlator.forget(series);
    const expected = error instanceof NotLeadingError || isEnding(error);
    const { reason, regarding } = series.event;
    const fields = {
      err: error,
      reason,
      kind: regarding?.kind,
      namespace: regarding?.namespace,
      name: regarding?.name,
    };
    const message = `an event was not recorded: ${error instanceof Error ? error.message : String(error)}`;
    if (expected || this.#complained) this.#options.logger.debug(fields, message);
    else this.#options.logger.warn(fields, message);
    this.#complained ||= !expected;
  }

  #sweepLater(): void {
    if (this.#cancelSweep || this.#correlator.size === 0) return;
    const sweep = (): void => {
      this.#cancelSweep = undefined;
      for (const series of this.#correlator.due(this.#options.clock.monotonic())) this.#enqueue(series);
      this.#sweepLater();
    };
    this.#cancelSweep = this.#options.clock.setTimer(sweep, SWEEP_MS, { background: true });
  }
}

/** Whether it may go better another time. A cluster without an answer is waited for; a server's own fault not for ever. */
function mayPass(error: unknown, tries: number): boolean {
  if (isStatusError(error)) return (error.code === 429 || error.code >= 500) && tries < MAX_TRIES;
  return error instanceof ClientError && error.code !== 'ERR_INVALID_REQUEST';
}

function askedDelay(error: unknown): number {
  return isStatusError(error) ? (error.retryAfterSeconds ?? 0) * 1_000 : 0;
}

/** Nothing can be created in a namespace that is being deleted. */
function isEnding(error: unknown): boolean {
  const causes = isStatusError(error, 'Forbidden') ? error.status.details?.causes : undefined;
  return causes?.some(({ reason }) => reason === 'NamespaceTerminating') ?? false;
}
