import { type Client, type Clock, type ResourceClient, sleep } from '@asterism/client';
import { isAlreadyExists, isConflict, isNotFound, type Lease, LEASES, type ObjectMeta } from '@asterism/machinery';
import {
  decideStandby,
  isSameTaking,
  type LeaseSpec,
  releasedSpec,
  renewedSpec,
  type SeenLease,
  takenSpec,
} from './lease-record.ts';
import { LinkedAbort } from '../waiting/linked-abort.ts';
import type { Logger } from '../log/logger.ts';

/**
 * Times in milliseconds. They must fit: retry < deadline < duration, by a good margin each.
 *
 * @example {@link LeadershipLostError}
 */
export interface LeaderElectionTiming {
  /** For how long after its last renewal a Lease protects its holder. Whole seconds. Default 15,000. */
  leaseDurationMs?: number | undefined;
  /** After how long without a renewal the holder stops acting by itself. Default 10,000. */
  renewDeadlineMs?: number | undefined;
  /** How often the holder renews and others look. Default 2,000. */
  retryPeriodMs?: number | undefined;
}

/**
 * Which Lease decides who leads, and who this process is.
 *
 * @example {@link LeadershipLostError}
 */
export interface LeaderElectionOptions extends LeaderElectionTiming {
  /** Of the Lease; the namespace must exist. */
  namespace: string;
  name: string;
  /** Who this process is, in the Lease. Another for each process, also on one machine; not empty. */
  identity: string;
  /**
   * Who an earlier process was that has certainly ended, as a lock that this one now holds may tell: a Lease that it left behind
   * is taken at once. No other process may ever bear this identity.
   */
  formerIdentity?: string | undefined;
  /**
   * Called when this process holds the Lease, before anything of the manager acts. Where it rejects, the manager ends with that
   * error.
   */
  onElected?: ((signal: AbortSignal) => Promise<void>) | undefined;
}

/**
 * This process did lead, and may no longer act. The one thing left to do is to end.
 *
 * @example
 * ```ts
 * const identity = `${hostname()}_${randomUUID()}`;
 * const leaderElection = { namespace: 'my-system', name: 'my-operator', identity };
 * const manager = createManager({ client, logger, leaderElection });
 * await manager.start(signal).catch((error: unknown) => {
 *   if (!(error instanceof LeadershipLostError)) throw error;
 *   process.exitCode = 1;
 * });
 * ```
 */
export class LeadershipLostError extends Error {
  override readonly name = 'LeadershipLostError';
}

/**
 * A write that was refused because this process does not lead, or cannot be sure that it still does.
 *
 * @example
 * ```ts
 * await cluster.client.resource(DEPLOYMENTS).update(deployment).catch((error: unknown) => {
 *   if (!(error instanceof NotLeadingError)) throw error;
 * });
 * ```
 */
export class NotLeadingError extends Error {
  override readonly name = 'NotLeadingError';
}

export interface ElectorParts {
  client: Client;
  clock: Clock;
  /** Milliseconds that nobody sets: not the time of day. */
  monotonic: () => number;
  random: () => number;
  logger: Logger;
  /** How this process has seen the Lease already. */
  seen?: SeenLease | undefined;
  /** What the Lease bears beside its name when it is taken, from what it bore. As it is, where this is absent. */
  metadata?: ((live: ObjectMeta | undefined) => ObjectMeta) | undefined;
}

type State =
  | { name: 'Standby'; seen: SeenLease | undefined }
  /** `renewedAt`: by the monotonic clock, when the renewal that succeeded last was *sent*. */
  | { name: 'Leading'; lease: Lease; renewedAt: number }
  /** Lost or released: there is no way back. */
  | { name: 'Over' };

const DEFAULTS = { leaseDurationMs: 15_000, renewDeadlineMs: 10_000, retryPeriodMs: 2_000 };
/** How much longer than the period a wait may be, so that processes do not call in step. */
const JITTER = 0.2;

/**
 * One process's part in the election of a leader by a `coordination.k8s.io` Lease, as client-go's `leaderelection` plays it.
 *
 * E1 Standby → Leading: only by a write that nobody else's write came before (resourceVersion), when the Lease is free by
 *    what this process saw itself.
 * E2 Leading → Over: when no renewal that was sent in the last `renewDeadlineMs` has succeeded, which is before anybody else
 *    can take the Lease; or as soon as somebody else is seen to hold it.
 * E3 E2 holds without a timer: {@link mayAct} compares clocks, so a process that was frozen finds out before it acts.
 * E4 Over is final: a process that has lost the Lease ends.
 */
export class LeaderElector {
  readonly #options: LeaderElectionOptions & Required<{ [K in keyof LeaderElectionTiming]: number }>;
  readonly #parts: ElectorParts;
  readonly #leases: ResourceClient<Lease>;
  readonly #lost = Promise.withResolvers<never>();
  #state: State;
  /** What this process last tried to take the Lease with; the answer may have been lost. */
  #tried: LeaseSpec | undefined;

  /** Throws `TypeError` where the times do not fit, or something that names the Lease or this process is empty. */
  constructor(options: LeaderElectionOptions, parts: ElectorParts) {
    for (const key of ['namespace', 'name', 'identity'] as const) {
      if (!options[key]) throw new TypeError(`leader election: ${key} must not be empty`);
    }
    this.#options = { ...options, ...timesOf(options) };
    this.#parts = parts;
    this.#leases = parts.client.resource(LEASES);
    this.#state = { name: 'Standby', seen: parts.seen };
    this.#lost.promise.catch(() => {}); // keep() tells of it
  }

  /** Whether this process leads for certain: nobody else can have taken the Lease by now. */
  mayAct(): boolean {
    const state = this.#state;
    if (state.name !== 'Leading') return false;
    if (this.#left(state) > 0) return true;
    this.#lose(`it could not renew its Lease for ${this.#options.renewDeadlineMs} ms`);
    return false;
  }

  /** Resolves when this process leads; rejects with the signal's reason. No failure of the server ends the waiting. */
  async campaign(signal: AbortSignal): Promise<void> {
    const { retryPeriodMs } = this.#options;
    const { clock, logger, random } = this.#parts;
    for (;;) {
      let waitMs = retryPeriodMs * (1 + JITTER * random());
      try {
        const step = await this.#attempt(signal, this.#patienceMs, (ending) => this.#look(ending));
        if (this.mayAct()) return;
        // Just as the Lease runs out, rather than up to a period later.
        if (step.act === 'Wait') waitMs = Math.min(waitMs, step.forMs + retryPeriodMs * JITTER * random());
      } catch (error) {
        signal.throwIfAborted();
        logger.warn({ err: error, ...this.#named }, `cannot look for a leader: ${(error as Error).message}`);
      }
      await sleep(clock, waitMs, signal);
    }
  }

  /** After {@link campaign}: renews until the signal aborts, then resolves; rejects with {@link LeadershipLostError}. */
  async keep(signal: AbortSignal): Promise<void> {
    await Promise.race([this.#renewUntil(signal), this.#lost.promise]);
  }

  /** Lets go of the Lease, so that another need not wait for it to run out. Whoever calls it has stopped acting. */
  async release(): Promise<void> {
    const state = this.#state;
    if (state.name !== 'Leading') return;
    this.#state = { name: 'Over' };
    const { logger } = this.#parts;
    try {
      await this.#attempt(undefined, this.#patienceMs, (signal) => this.#letGo(state.lease, signal));
      logger.info(this.#named, 'released the leadership');
    } catch (error) {
      logger.warn({ err: error, ...this.#named }, 'the Lease was not released: others wait until it runs out');
    }
  }

  async #renewUntil(signal: AbortSignal): Promise<void> {
    const { clock, logger } = this.#parts;
    const { retryPeriodMs } = this.#options;
    for (;;) {
      const leading = this.#state;
      if (leading.name !== 'Leading' || !this.mayAct()) return await this.#lost.promise;
      await sleep(clock, Math.min(retryPeriodMs, this.#left(leading)), signal).catch(() => {});
      if (signal.aborted) return;
      if (!this.mayAct()) continue;
      try {
        const patienceMs = Math.min(this.#left(leading), this.#patienceMs);
        await this.#attempt(signal, patienceMs, (ending) => this.#renew(leading.lease, ending));
      } catch (error) {
        if (signal.aborted) return;
        if (this.#state.name === 'Leading') {
          logger.warn({ err: error, ...this.#named }, `cannot renew the Lease: ${(error as Error).message}`);
        }
      }
    }
  }

  /** Standby: reads the Lease, and takes it where it may. */
  async #look(signal: AbortSignal) {
    const { identity, formerIdentity, leaseDurationMs } = this.#options;
    const { monotonic, clock, random, logger } = this.#parts;
    const seen = this.#state.name === 'Standby' ? this.#state.seen : undefined;
    const live = await this.#find(signal);
    const step = decideStandby({
      spec: live && (live.spec ?? {}),
      seen,
      now: monotonic(),
      leaseDurationMs,
      isOwn: (spec) =>
        (this.#tried !== undefined && isSameTaking(spec, this.#tried)) ||
        (formerIdentity !== undefined && spec.holderIdentity === formerIdentity),
    });
    this.#state = { name: 'Standby', seen: step.seen };
    if (step.act === 'Wait') return step;
    const spec = takenSpec(live?.spec, { identity, leaseDurationMs, now: clock.wall().getTime(), random });
    this.#tried = spec;
    const sentAt = monotonic();
    try {
      const lease = live
        ? await this.#leases.update({ ...live, metadata: this.#metadata(live.metadata), spec }, { signal })
        : await this.#leases.create({ metadata: this.#metadata(undefined), spec }, { signal });
      this.#state = { name: 'Leading', lease, renewedAt: sentAt };
      if (this.mayAct()) logger.info(this.#named, 'leads');
    } catch (error) {
      // Somebody else was faster: they are seen at the next look.
      if (!isConflict(error) && !isAlreadyExists(error)) throw error;
    }
    return step;
  }

  /** Leading: one renewal. */
  async #renew(held: Lease, signal: AbortSignal): Promise<void> {
    const { clock, monotonic } = this.#parts;
    const spec = renewedSpec(held.spec ?? {}, clock.wall().getTime());
    const sentAt = monotonic();
    try {
      this.#renewed(await this.#leases.update({ ...held, spec }, { signal }), sentAt);
    } catch (error) {
      if (isNotFound(error)) return await this.#restore(spec, signal);
      if (!isConflict(error)) throw error;
      const live = await this.#find(signal);
      if (!live) return await this.#restore(spec, signal);
      if (!isSameTaking(live.spec ?? {}, spec))
        return this.#lose(`${live.spec?.holderIdentity ?? 'nobody'} holds the Lease`);
      // An answer of before was lost, or somebody labelled the object.
      const againAt = monotonic();
      this.#renewed(await this.#leases.update({ ...live, spec }, { signal }), againAt);
    }
  }

  /** The Lease was deleted under its holder. Whoever makes it first leads. */
  async #restore(spec: LeaseSpec, signal: AbortSignal): Promise<void> {
    const sentAt = this.#parts.monotonic();
    try {
      this.#renewed(await this.#leases.create({ metadata: this.#metadata(undefined), spec }, { signal }), sentAt);
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
      this.#lose('its Lease was deleted, and another process made a new one');
    }
  }

  async #letGo(held: Lease, signal: AbortSignal): Promise<void> {
    const spec = releasedSpec(held.spec ?? {}, this.#parts.clock.wall().getTime());
    try {
      await this.#leases.update({ ...held, spec }, { signal });
    } catch (error) {
      if (!isConflict(error)) throw error;
      // A renewal was under way when this process was told to stop, and has come through.
      const live = await this.#find(signal);
      if (live && isSameTaking(live.spec ?? {}, held.spec ?? {}))
        await this.#leases.update({ ...live, spec }, { signal });
    }
  }

  #renewed(lease: Lease, sentAt: number): void {
    if (this.#state.name === 'Leading') this.#state = { name: 'Leading', lease, renewedAt: sentAt };
  }

  #lose(why: string): void {
    if (this.#state.name !== 'Leading') return;
    this.#state = { name: 'Over' };
    const { namespace, name } = this.#options;
    this.#lost.reject(new LeadershipLostError(`this process no longer leads (Lease ${namespace}/${name}): ${why}`));
  }

  #left({ renewedAt }: { renewedAt: number }): number {
    return renewedAt + this.#options.renewDeadlineMs - this.#parts.monotonic();
  }

  async #find(signal: AbortSignal): Promise<Lease | undefined> {
    const { namespace, name } = this.#options;
    try {
      return await this.#leases.get({ namespace, name }, { signal });
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  #metadata(live: ObjectMeta | undefined): ObjectMeta {
    const { namespace, name } = this.#options;
    const { metadata = (before) => before ?? {} } = this.#parts;
    return { ...metadata(live), namespace, name };
  }

  /** Calls with a signal that aborts after `ms` too: a server that says nothing is as good as none. */
  async #attempt<T>(
    signal: AbortSignal | undefined,
    ms: number,
    call: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    using abort = new LinkedAbort(signal);
    const cancel = this.#parts.clock.setTimer(() => abort.abort(new Error(`no answer within ${Math.ceil(ms)} ms`)), ms);
    try {
      return await call(abort.signal);
    } finally {
      cancel();
    }
  }

  /** For one answer: half of the deadline, so that one that never comes leaves the time for another try. */
  get #patienceMs(): number {
    return this.#options.renewDeadlineMs / 2;
  }

  get #named(): object {
    const { namespace, name, identity } = this.#options;
    return { lease: `${namespace}/${name}`, identity };
  }
}

function timesOf(options: LeaderElectionTiming) {
  const {
    leaseDurationMs = DEFAULTS.leaseDurationMs,
    renewDeadlineMs = DEFAULTS.renewDeadlineMs,
    retryPeriodMs = DEFAULTS.retryPeriodMs,
  } = options;
  if (!(retryPeriodMs > 0 && retryPeriodMs < renewDeadlineMs && renewDeadlineMs < leaseDurationMs)) {
    throw new TypeError(
      'leader election needs retryPeriodMs < renewDeadlineMs < leaseDurationMs, not ' +
        `${retryPeriodMs}, ${renewDeadlineMs} and ${leaseDurationMs}`,
    );
  }
  return { leaseDurationMs, renewDeadlineMs, retryPeriodMs };
}
