import { randomUUID } from 'node:crypto';
import type { Client } from '@asterism/client';
import { isConflict } from '@asterism/machinery';
import { recordingClient, type WrittenVersion } from '../cache/written-versions.ts';
import type { Cluster, EngagedCluster } from '../cluster/cluster.ts';
import type { ControllerInstruments, ReconcileOutcome } from '../instruments/instruments.ts';
import type { Logger } from '../log/logger.ts';
import { LinkedAbort } from '../waiting/linked-abort.ts';
import type { ControllerOptions } from './controller.ts';
import type { RunnerOptions } from './controller-runner.ts';
import type { Echoes } from './echoes.ts';
import { isPanic } from './is-panic.ts';
import { LOCAL_CLUSTER, type Request, TerminalError } from './reconcile.ts';
import type { WorkQueue } from './work-queue.ts';
import { WriteLedger } from './write-ledger.ts';

const TIMEOUT_MS = 120_000;
/** How long what failed in a cluster that gives no answer waits for its return, which is told of. */
const PARKED_MS = 60_000;

export interface ReconcilerOptions {
  controller: ControllerOptions;
  runner: RunnerOptions;
  logger: Logger;
  queue: WorkQueue;
  instruments: ControllerInstruments | undefined;
  echoes: Echoes | undefined;
  /** Whether requests for the cluster may be worked on. */
  accepts: (cluster: string) => boolean;
  /** Aborts when the controller ends. */
  signal: AbortSignal;
}

/**
 * Calls the reconcile function of a controller for one request at a time, and queues the request again where its outcome asks for it.
 *
 * R1 A request whose cluster is gone ends without a word.
 * R2 Whatever a reconcile throws ends with this request alone.
 * R3 A request is not reconciled before the caches have seen what its last reconcile wrote, and holds no worker until then.
 * R4 No reconcile begins in a process that does not lead, or hold the cluster, for certain at that moment, however long it was
 *    frozen.
 * R5 What fails in a cluster that gives no answer is tried again when it does.
 */
export class Reconciler {
  readonly #options: ReconcilerOptions;
  readonly #written: WriteLedger;

  constructor(options: ReconcilerOptions) {
    this.#options = options;
    this.#written = new WriteLedger(options.runner);
  }

  /** Never rejects. */
  async run(request: Request): Promise<void> {
    const { controller, queue, echoes, accepts } = this.#options;
    const left = controller.gather?.(request) ?? 0;
    if (left > 0) return queue.addAfter(request, left);
    const later = (): unknown => accepts(request.cluster) && queue.add(request);
    if (!(await this.#written.isSeen(request, later))) return;
    echoes?.begin(request);
    await this.#reconcile(request);
    if (echoes?.end(request)) later();
  }

  /** Forgets what was written for the cluster's requests. */
  drop(cluster: string): void {
    this.#written.drop(cluster);
  }

  /** Waits no longer for what was written. */
  close(): void {
    this.#written.close();
  }

  async #reconcile(request: Request): Promise<void> {
    const { controller, runner, queue, instruments, accepts } = this.#options;
    const cluster = runner.cluster(request.cluster);
    if (!cluster || cluster.signal.aborted) return queue.forget(request);
    if (!accepts(request.cluster)) return; // The manager ends, or the cluster is another's.
    const { reconcile, timeoutMs = TIMEOUT_MS } = controller;
    const { namespace, name } = request;
    const reconcileID = randomUUID();
    const where = cluster.name ? { cluster: cluster.name } : {};
    const logger = this.#options.logger.child({ ...where, namespace, name, reconcileID });
    const tenure = request.cluster === LOCAL_CLUSTER ? runner.localTenure?.() : undefined;
    using abort = new LinkedAbort(this.#options.signal, cluster.signal, tenure);
    const { signal } = abort;
    const onTimeout = (): void => {
      if (signal.aborted) return;
      instruments?.timedOut(cluster.name);
      abort.abort(new Error(`reconcile took more than ${timeoutMs} ms`));
    };
    const cancelTimer = runner.clock.setTimer(onTimeout, timeoutMs, { background: true });
    const start = runner.monotonic();
    const tell = (outcome: ReconcileOutcome): void =>
      instruments?.reconciled(cluster.name, outcome, runner.monotonic() - start);
    try {
      const at = (name: string): Cluster | undefined => {
        const other = runner.cluster(name);
        return other && this.#recording(other, request);
      };
      const result = await reconcile(request, {
        cluster: this.#recording(cluster, request),
        at,
        signal,
        logger,
        reconcileID,
      });
      queue.forget(request);
      const isOver = cluster.signal.aborted || tenure?.aborted === true;
      const requeueAfter = isOver ? undefined : result?.requeueAfter;
      if (requeueAfter !== undefined) queue.addAfter(request, requeueAfter);
      tell(requeueAfter === undefined ? 'success' : 'requeue_after');
    } catch (error) {
      if (this.#options.signal.aborted || cluster.signal.aborted || tenure?.aborted) return;
      const isParked = cluster.health() === 'Unreachable';
      tell(this.#failed(request, signal.aborted ? signal.reason : error, { logger, isParked }));
    } finally {
      cancelTimer();
    }
  }

  #failed(
    request: Request,
    error: unknown,
    { logger, isParked }: { logger: Logger; isParked: boolean },
  ): ReconcileOutcome {
    const { queue } = this.#options;
    if (error instanceof TerminalError) {
      queue.forget(request);
      logger.error({ err: error }, `reconcile failed for good: ${error.message}`);
      return 'terminal';
    }
    queue.addRateLimited(request, { atLeastMs: isParked ? PARKED_MS : 0 });
    const message = error instanceof Error ? error.message : String(error);
    const fields = { err: error, failures: queue.failures(request) };
    if (isPanic(error)) {
      logger.error(fields, `reconcile failed by a mistake in its code: ${message}`);
      return 'panic';
    }
    // Somebody else was faster: the next reconcile sees what they wrote.
    if (isConflict(error)) logger.debug(fields, `reconcile met a conflict: ${message}`);
    else logger.warn(fields, `reconcile failed: ${message}`);
    return 'error';
  }

  /** A cluster as a reconcile sees it: its writes are noted, and go out while this process may act on the request's cluster. */
  #recording(cluster: EngagedCluster, request: Request): Cluster {
    const { runner, echoes } = this.#options;
    const { name, cache, signal } = cluster;
    // To the local cluster, whoever holds it, a reconcile may tell what it does about its own.
    const isReport = name === LOCAL_CLUSTER && request.cluster !== LOCAL_CLUSTER && runner.mayAct !== undefined;
    const clientOf = (): Client =>
      isReport ? cluster.clientWhile(() => runner.mayAct?.(request.cluster) !== false) : cluster.client;
    const note = (version: WrittenVersion): void => {
      this.#written.note(request, { cluster: name, version });
      echoes?.wrote(request, { cluster: name, version });
    };
    return {
      name,
      cache,
      signal,
      health: () => cluster.health(),
      answersAgain: (ending) => cluster.answersAgain(ending),
      onReturn: (callback) => cluster.onReturn(callback),
      get client() {
        return recordingClient(clientOf(), note);
      },
      get replaced() {
        return cluster.replaced;
      },
    };
  }
}
