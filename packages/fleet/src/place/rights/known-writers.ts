import { deepEqual } from '@asterism/machinery';
import type { Policy } from '../match-policy.ts';
import { policyWriters, type Rbac } from './policy-writers.ts';
import type { Subject } from './subject.ts';

/**
 * Who may write policies, read from the API server itself.
 *
 * W1  For each version of a policy, roles are read after it was seen: so whoever could write it is among its writers. A cache could be
 *     behind, and then would not know a writer who has just got the right.
 * W2  Policies that wait at the same time share one read; so does everything at the start of a hub.
 */
export class KnownWriters {
  readonly #read: (signal: AbortSignal) => Promise<Rbac>;
  #rbac: Rbac | undefined;
  /** Policies that were seen before the last read. */
  readonly #judged = new WeakSet<Policy>();
  /** By namespace; undefined: of the cluster. */
  readonly #writers = new Map<string | undefined, readonly Subject[]>();
  #running: Promise<void> | undefined;
  #queued: Promise<void> | undefined;
  #changed = false;

  constructor(read: (signal: AbortSignal) => Promise<Rbac>) {
    this.#read = read;
  }

  async of(policy: Policy, signal: AbortSignal): Promise<readonly Subject[]> {
    if (!this.#judged.has(policy)) {
      await this.#readSoon(signal);
      this.#judged.add(policy);
    }
    const { namespace } = policy.metadata;
    const known = this.#writers.get(namespace);
    if (known) return known;
    const writers = this.#rbac ? policyWriters(this.#rbac, namespace) : [];
    this.#writers.set(namespace, writers);
    return writers;
  }

  /**
   * Reads again, if anybody was asked for.
   *
   * @returns whether anything has changed since the last time
   */
  async refresh(signal: AbortSignal): Promise<boolean> {
    if (this.#writers.size > 0) await this.#readSoon(signal);
    const changed = this.#changed;
    this.#changed = false;
    return changed;
  }

  /** Resolves after a read that has begun after this call. */
  #readSoon(signal: AbortSignal): Promise<void> {
    if (this.#queued) return this.#queued;
    const before = this.#running?.catch(() => {}) ?? Promise.resolve();
    this.#queued = before.then(() => {
      this.#queued = undefined;
      this.#running = this.#readNow(signal);
      return this.#running;
    });
    return this.#queued;
  }

  async #readNow(signal: AbortSignal): Promise<void> {
    const rbac = await this.#read(signal);
    this.#rbac = rbac;
    for (const [namespace, before] of this.#writers) {
      const now = policyWriters(rbac, namespace);
      if (deepEqual(before, now)) continue;
      this.#changed = true;
      this.#writers.set(namespace, now);
    }
  }
}
