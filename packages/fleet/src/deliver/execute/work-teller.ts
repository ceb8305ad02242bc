import { formatTime, objectKey } from '@asterism/machinery';
import type { Clock, Cluster, Enqueue, Manager, Request, Result } from '@asterism/runtime';
import type { ManifestStatus, Work } from '../../api/index.ts';
import { Retries } from '../member/retries.ts';
import { sameStatus } from '../report/binding-status.ts';
import { Coalescer, REPORTS } from '../report/coalescer.ts';
import { mayWait } from '../report/may-wait.ts';
import { newsOf, toldAsApplied } from '../report/told-status.ts';
import { WorkReports } from '../report/work-reports.ts';
import { removedStatus, workStatus } from '../report/work-status.ts';

export interface WorkTellerSettings {
  clock: Clock;
  random: () => number;
  /** For how long changes of status are gathered before one write, in ms. */
  coalesceMs: number;
  /** For how long while a rollout is under way, in ms. */
  progressMs: number;
}

/** A Work, the request that it was reconciled for, and the hub that hears of it. */
export interface Told {
  hub: Cluster;
  request: Request;
  work: Work;
}

/**
 * Tells the hub what became of Works, and when to try again what failed.
 *
 * N1  The status is written once for all that changes within `coalesceMs`, or within `progressMs` while a rollout is under way
 *     (see mayWait), and not at all if nothing changed.
 * N2  An object that was told as applied and is refused now is told as refused only after several refusals: a server that is just
 *     starting refuses everybody for a moment.
 * N3  While the hub gives no answer the member is kept right all the same. What there is to tell waits until the hub is back.
 */
export class WorkTeller {
  readonly #settings: WorkTellerSettings;
  readonly #coalescer: Coalescer;
  readonly #retries: Retries;
  readonly #reports: WorkReports;

  constructor(manager: Manager, settings: WorkTellerSettings) {
    this.#settings = settings;
    this.#coalescer = new Coalescer(settings.clock, REPORTS);
    this.#retries = new Retries(settings.random);
    this.#reports = new WorkReports(manager);
  }

  /** Asks again for Works whose status the hub could not be told, when it answers again. */
  follow(enqueue: Enqueue, signal: AbortSignal): void {
    this.#reports.follow(enqueue, signal, (key) => this.#retries.succeeded(key));
  }

  /** What became of the manifests of a Work. Resolves with when to look again, if that is known. */
  async results(told: Told, results: readonly ManifestStatus[], signal: AbortSignal): Promise<Result | void> {
    const { work } = told;
    const { coalesceMs, progressMs } = this.#settings;
    const key = objectKey(work);
    const failed = !work.spec.suspendDispatching && results.some(({ applied }) => !applied);
    if (!failed) this.#retries.succeeded(key);
    const mayPass = failed && this.#retries.mayPass(key);
    const known = results.map((each) => (!each.applied && mayPass && toldAsApplied(work, each)) || each);
    const wanted = workStatus(work, known, this.#now());
    if (!sameStatus(work.status, wanted)) {
      const requeueAfter = this.#coalescer.remaining(key, mayWait(newsOf(work, known)) ? progressMs : coalesceMs);
      if (requeueAfter > 0) return { requeueAfter };
      const untold = await this.#write(told, wanted, signal);
      if (untold) return untold;
    }
    this.#coalescer.settled(key);
    return failed ? { requeueAfter: this.#retries.next(key) } : undefined;
  }

  /** That nothing of a deleted Work is left in its cluster. */
  async removed(told: Told, signal: AbortSignal): Promise<Result | void> {
    return await this.#write(told, removedStatus(told.work, this.#now()), signal);
  }

  /** Where many Works are deleted at once, their objects are removed first and told of afterwards: how many ms until then. */
  removalDue(work: Work): number {
    return this.#coalescer.remaining(objectKey(work), 0);
  }

  /** As {@link removalDue}, of a Work that was asked about before; 0 for any other. */
  removalLeft(work: Work): number {
    return this.#coalescer.left(objectKey(work), 0);
  }

  /** For a Work that could not be reconciled at all: in how many ms to try again. */
  failed(key: string): number {
    return this.#retries.next(key);
  }

  /** The failures of the Work so far say nothing any more: it is tried again at once. */
  mayWorkNow(work: Work): void {
    this.#retries.succeeded(objectKey(work));
  }

  forget(key: string): void {
    this.#coalescer.settled(key);
    this.#retries.succeeded(key);
    this.#reports.forget(key);
  }

  async #write(
    { hub, request, work }: Told,
    status: NonNullable<Work['status']>,
    signal: AbortSignal,
  ): Promise<Result | void> {
    return await this.#reports.write(hub, { work, request }, status, signal);
  }

  #now(): string {
    return formatTime(this.#settings.clock.wall().getTime());
  }
}
