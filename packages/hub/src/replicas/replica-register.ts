import { type Client, type Clock, sleep, systemClock } from '@asterism/client';
import { HUB_REPLICA_LABEL, SYSTEM_NAMESPACE } from '@asterism/fleet/api';
import { isNotFound, type Lease, LEASES } from '@asterism/machinery';
import type { Cache, Informer, Logger, Runnable } from '@asterism/runtime';
import { FIELD_MANAGER } from '../ensure-applied.ts';
import {
  type OwnReplica,
  type Replica,
  REPLICA_LEASE_SECONDS,
  replicaLease,
  replicaLeaseName,
  replicaOf,
} from './replica.ts';

export interface ReplicaRegisterOptions {
  self: OwnReplica;
  /** Of the API server that the replicas share. */
  client: Client;
  cache: Pick<Cache, 'informer'>;
  /** Told of the other replicas that live: at first, and whenever there are others. */
  onChange: (others: readonly Replica[]) => void;
  logger: Logger;
  clock?: Clock;
  /** Milliseconds that only go forward. */
  monotonic?: () => number;
}

const RENEW_MS = 5_000;
const VALID_MS = REPLICA_LEASE_SECONDS * 1_000;
/** For how long a Lease must have said nothing new before it is deleted as left behind. */
const LEFT_BEHIND_MS = 10 * 60_000;
const FAREWELL_MS = 2_000;

interface Seen {
  lease: Lease;
  replica: Replica | undefined;
  /** When it was seen to change, by the own monotonic clock: what stands in it is another machine's time. */
  at: number;
}

/**
 * Who the replicas of a hub are. Says by a Lease that this process is one, and by those of the others whether they still are: one
 * that was not seen renewed for 15 s is gone, as is one whose Lease was deleted.
 */
export class ReplicaRegister implements Runnable {
  readonly name = 'hub-replicas';
  readonly needsLeadership = false;
  readonly #options: ReplicaRegisterOptions;
  readonly #clock: Clock;
  readonly #monotonic: () => number;
  readonly #leases: Informer<Lease>;
  readonly #seen = new Map<string, Seen>();
  #self: OwnReplica;
  #told: string | undefined;
  #cancelLook = (): void => {};

  constructor(options: ReplicaRegisterOptions) {
    this.#options = options;
    this.#self = options.self;
    this.#clock = options.clock ?? systemClock;
    this.#monotonic = options.monotonic ?? (() => this.#clock.monotonic());
    this.#leases = options.cache.informer(LEASES, { namespace: SYSTEM_NAMESPACE, labelSelector: HUB_REPLICA_LABEL });
  }

  async run(signal: AbortSignal): Promise<void> {
    const see = (lease: Lease): void => this.#see(lease);
    this.#leases.addHandler({
      onAdd: see,
      onUpdate: (_, lease) => see(lease),
      onDelete: ({ metadata }) => {
        this.#seen.delete(metadata?.name ?? '');
        this.#look();
      },
    });
    try {
      while (!signal.aborted) {
        await this.#renew(signal);
        await this.#deleteLeftBehind(signal);
        await sleep(this.#clock, RENEW_MS, signal).catch(() => {});
      }
    } finally {
      this.#cancelLook();
    }
  }

  /** Says that this replica takes no more calls from without; the others still reach through it what it holds. */
  async retire(): Promise<void> {
    const { serving: _, ...self } = this.#self;
    this.#self = self;
    await this.#renew(AbortSignal.timeout(FAREWELL_MS));
  }

  /** Says that this replica is gone. */
  async leave(): Promise<void> {
    const { client, logger } = this.#options;
    await this.#delete(replicaLeaseName(this.#self.id), AbortSignal.timeout(FAREWELL_MS)).catch((err: unknown) => {
      logger.debug({ err, server: client.transport.server }, 'the other replicas could not be told that this one goes');
    });
  }

  async #renew(signal: AbortSignal): Promise<void> {
    const { client, logger } = this.#options;
    const self = this.#self;
    const lease = replicaLease(self, this.#clock.wall().getTime());
    await client
      .resource(LEASES)
      .apply(lease, {
        fieldManager: FIELD_MANAGER,
        force: true,
        signal: AbortSignal.any([signal, AbortSignal.timeout(RENEW_MS)]),
      })
      .catch((err: unknown) => {
        if (!signal.aborted)
          logger.warn({ err, replica: self.id }, 'the other replicas could not be told that this one is there');
      });
  }

  async #deleteLeftBehind(signal: AbortSignal): Promise<void> {
    const limit = this.#monotonic() - LEFT_BEHIND_MS;
    for (const [name, { at }] of this.#seen) {
      if (at < limit) await this.#delete(name, signal).catch(() => {}); // The next look tries again.
    }
  }

  async #delete(name: string, signal: AbortSignal): Promise<void> {
    await this.#options.client
      .resource(LEASES)
      .delete({ namespace: SYSTEM_NAMESPACE, name }, { signal })
      .catch((error: unknown) => {
        if (!isNotFound(error)) throw error;
      });
  }

  #see(lease: Lease): void {
    const name = lease.metadata?.name ?? '';
    const before = this.#seen.get(name);
    if (before && before.lease.spec?.renewTime === lease.spec?.renewTime) return;
    this.#seen.set(name, { lease, replica: replicaOf(lease), at: this.#monotonic() });
    this.#look();
  }

  /** Tells who lives, where that is news; looks again when the next one may have died. */
  #look(): void {
    this.#cancelLook();
    const now = this.#monotonic();
    const live = [...this.#seen.values()].filter(({ at }) => now < at + VALID_MS);
    if (live.length > 0) {
      const nextMs = Math.min(...live.map(({ at }) => at + VALID_MS - now));
      this.#cancelLook = this.#clock.setTimer(() => this.#look(), nextMs, { background: true });
    }
    const others = live.flatMap(({ replica }) => (replica && replica.id !== this.#self.id ? [replica] : []));
    others.sort((a, b) => (a.id < b.id ? -1 : 1));
    const told = JSON.stringify(others);
    if (told === this.#told) return;
    this.#told = told;
    this.#options.onChange(others);
  }
}
