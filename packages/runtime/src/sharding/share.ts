import { type Clock, sleep } from '@asterism/client';
import { LEASES } from '@asterism/machinery';
import { type ElectorParts, LeaderElector } from '../leader/leader-election.ts';
import { LinkedAbort } from '../waiting/linked-abort.ts';
import type { Logger } from '../log/logger.ts';
import { decideOutside, handsOver, type ShareView } from './decide-share.ts';
import type { LeaseBoard } from './lease-board.ts';
import { fenceMetadata, fenceName, WANTED_ANNOTATION, wantedBy } from './shard-leases.ts';
import type { SHARDING_TIMES, ShardingOptions } from './sharding-options.ts';

/** What comes of holding a cluster. Neither may throw. */
export interface ShareHandler {
  /** This process acts on it from now on. */
  begin(): void;
  /** It acts no more; resolves when nothing works on it, since only then another may have it. */
  end(reason: Error): Promise<void>;
}

export interface ShareParts {
  options: Required<{ [K in keyof typeof SHARDING_TIMES]: number }> & ShardingOptions;
  elector: ElectorParts;
  board: LeaseBoard;
  /** The peers that live, in the order in which the cluster falls to them; empty where this process is not among them. */
  ranking: () => readonly string[];
}

/** From the attempt to take the fence to when all has ended that came of it. */
interface Tenure {
  elector: LeaderElector;
  /** Ends the attempt, or the renewals. */
  abort: AbortController;
  state: 'Taking' | 'Held' | 'Ending';
  /** Resolves when it is not waited for any longer. */
  abandoned: PromiseWithResolvers<void>;
}

/**
 * One cluster, and this process's part in who has it.
 *
 * S1 Outside → Taking → Held: the fence decides, as a Lease decides who leads ({@link LeaderElector}); peers and ranks only say who
 *    tries.
 * S2 Held → Ending: at once when the fence is lost, when the peer that it falls to asks for it, or when it is withdrawn.
 * S3 Ending → Outside: when nothing works on the cluster any more. Until then the fence is renewed, so that no other begins.
 */
export class Share {
  readonly cluster: string;
  readonly #parts: ShareParts;
  readonly #handler: ShareHandler;
  readonly #logger: Logger;
  readonly #fence: string;
  readonly #offeredAt: number;
  readonly #withdrawal = new AbortController();
  #ranking: readonly string[];
  #tenure: Tenure | undefined;
  #ended = Promise.resolve();
  #asking = false;
  #cancelTimer: (() => void) | undefined;

  constructor(cluster: string, handler: ShareHandler, parts: ShareParts) {
    this.cluster = cluster;
    this.#handler = handler;
    this.#parts = parts;
    this.#logger = parts.elector.logger.child(cluster ? { cluster } : {});
    this.#fence = fenceName(parts.options.name, cluster);
    this.#offeredAt = parts.elector.monotonic();
    this.#ranking = parts.ranking();
  }

  get fence(): string {
    return this.#fence;
  }

  /** Whether this process, and no other, may act on the cluster at this moment. */
  mayAct(): boolean {
    const { state, elector } = this.#tenure ?? {};
    return (state === 'Held' || state === 'Ending') && elector?.mayAct() === true;
  }

  /** Whether this process holds the cluster and means to go on. */
  get held(): boolean {
    return this.#tenure?.state === 'Held';
  }

  /** There are other peers. */
  rank(): void {
    this.#ranking = this.#parts.ranking();
    this.consider();
  }

  /** Does what is to be done as things stand; to be called when they change. */
  consider(): void {
    this.#cancelTimer?.();
    if (this.#withdrawal.signal.aborted) return;
    if (this.#tenure) this.#considerTenure(this.#tenure);
    else this.#considerTaking();
  }

  /**
   * Gives it up for good, with what comes of it; resolves when the fence is free. When `grace` aborts it resolves too, and the fence
   * is left to run out.
   */
  async withdraw(reason: Error, grace?: AbortSignal): Promise<void> {
    this.#cancelTimer?.();
    this.#withdrawal.abort(reason);
    if (this.#tenure) this.#end(this.#tenure, reason);
    const abandon = (): void => this.#tenure?.abandoned.resolve();
    if (grace?.aborted) abandon();
    grace?.addEventListener('abort', abandon, { once: true });
    await this.#ended;
    grace?.removeEventListener('abort', abandon);
  }

  #considerTenure(tenure: Tenure): void {
    if (tenure.state === 'Held' && handsOver(this.#view)) {
      const to = this.#ranking[0] ?? '';
      this.#end(tenure, new Error(`cluster "${this.cluster}" goes to ${to}, which it falls to`));
    }
    if (tenure.state !== 'Taking') return;
    if (this.#ranking.length === 0) return tenure.abort.abort(new Error('this process is no peer'));
    // Another was faster: the attempt would only ask, again and again, when that one's fence runs out.
    const holder = this.#view.fence?.spec?.holderIdentity;
    const isAnothers = holder !== undefined && holder !== this.#parts.options.identity;
    if (isAnothers && this.#step().act !== 'Take') tenure.abort.abort(new Error('another has it'));
  }

  #considerTaking(): void {
    const step = this.#step();
    if (step.act === 'Take') this.#take();
    if (step.act === 'Ask') void this.#ask();
    if (step.act === 'Wait' && step.forMs !== undefined) {
      this.#cancelTimer = this.#clock.setTimer(() => this.consider(), step.forMs, { background: true });
    }
  }

  #take(): void {
    const { options, elector: parts, board } = this.#parts;
    const { name, namespace, identity, leaseDurationMs, renewDeadlineMs, retryPeriodMs } = options;
    const times = { leaseDurationMs, renewDeadlineMs, retryPeriodMs };
    const elector = new LeaderElector(
      { namespace, name: this.#fence, identity, ...times },
      {
        ...parts,
        logger: this.#logger,
        seen: board.fence(this.#fence)?.seen,
        metadata: fenceMetadata(name, this.cluster),
      },
    );
    const abandoned = Promise.withResolvers<void>();
    const tenure: Tenure = { elector, abort: new AbortController(), state: 'Taking', abandoned };
    this.#tenure = tenure;
    this.#ended = this.#run(tenure);
  }

  /** A tenure from its beginning to its end; never rejects. */
  async #run(tenure: Tenure): Promise<void> {
    const { elector, abort } = tenure;
    try {
      await elector.campaign(abort.signal);
    } catch {
      return this.#over(); // Another has it, or it is withdrawn.
    }
    if (abort.signal.aborted) {
      await elector.release();
      return this.#over();
    }
    const reason = Promise.withResolvers<Error>();
    abort.signal.addEventListener('abort', () => reason.resolve(abort.signal.reason as Error), { once: true });
    // Renewed until nothing works on it: not until it is asked to end.
    const drained = new AbortController();
    const kept = elector.keep(drained.signal).catch((error: Error) => {
      this.#logger.warn({ err: error }, `lost the cluster: ${error.message}`);
      reason.resolve(error);
    });
    tenure.state = 'Held';
    this.#handler.begin();
    const why = await reason.promise;
    tenure.state = 'Ending';
    const isFree = await Promise.race([
      this.#handler.end(why).then(() => true),
      tenure.abandoned.promise.then(() => false),
    ]);
    drained.abort(why);
    await kept;
    if (isFree) await elector.release();
    else this.#logger.warn({}, 'the cluster was not given up in order: others wait until its fence runs out');
    this.#over();
  }

  #end(tenure: Tenure, reason: Error): void {
    if (tenure.state === 'Held') this.#logger.info({ reason: reason.message }, 'gives the cluster up');
    if (tenure.state !== 'Ending') tenure.abort.abort(reason);
  }

  #over(): void {
    this.#tenure = undefined;
    this.consider();
  }

  /** Tells the holder that the cluster falls to this process. */
  async #ask(): Promise<void> {
    if (this.#asking) return;
    this.#asking = true;
    const { options, elector } = this.#parts;
    const { namespace, identity, retryPeriodMs } = options;
    const { signal } = this.#withdrawal;
    const body = { metadata: { annotations: { [WANTED_ANNOTATION]: identity } } };
    using patience = new LinkedAbort(signal);
    const cancel = this.#clock.setTimer(() => patience.abort(new Error('no answer')), retryPeriodMs);
    try {
      const leases = elector.client.resource(LEASES);
      await leases.patch({ namespace, name: this.#fence }, { type: 'merge', body }, { signal: patience.signal });
    } catch (error) {
      if (!signal.aborted) this.#logger.debug({ err: error }, 'the holder of the cluster could not be asked for it');
    } finally {
      cancel();
    }
    // The answer is seen as a change of the fence; should it not come, the question is put again.
    await sleep(this.#clock, retryPeriodMs, signal).catch(() => {});
    this.#asking = false;
    this.consider();
  }

  #step() {
    const { options, elector } = this.#parts;
    const { yieldMs } = options;
    return decideOutside({ ...this.#view, now: elector.monotonic(), offeredAt: this.#offeredAt, yieldMs });
  }

  get #view(): ShareView {
    const { options, board } = this.#parts;
    const entry = board.fence(this.#fence);
    return {
      identity: options.identity,
      ranking: this.#ranking,
      fence: entry?.seen,
      wantedBy: entry && wantedBy(entry.lease),
    };
  }

  get #clock(): Clock {
    return this.#parts.elector.clock;
  }
}
