import type { Clock } from '@asterism/client';
import type { Lease } from '@asterism/machinery';
import type { Informer } from '../cache/informer.ts';
import { observeLease, type SeenLease } from '../leader/lease-record.ts';
import { isPeerLease } from './shard-leases.ts';

export interface LeaseBoardOptions {
  /** Of the Leases of this installation. */
  informer: Pick<Informer<Lease>, 'addHandler'>;
  clock: Clock;
  monotonic: () => number;
  leaseDurationMs: number;
  /** There are other peers than before. */
  onPeers: () => void;
  /** Somebody wrote the fence of this name, or deleted it. */
  onFence: (name: string) => void;
}

interface Entry {
  seen: SeenLease;
  lease: Lease;
  gone: boolean;
}

/**
 * What this process has seen of the Leases, each with when it changed last by its own clock. A watch that is behind makes it
 * find them changed later, which errs on the safe side.
 */
export class LeaseBoard {
  readonly #options: LeaseBoardOptions;
  readonly #entries = new Map<string, Entry>();
  #peers: readonly string[] = [];
  #cancel: (() => void) | undefined;

  constructor(options: LeaseBoardOptions) {
    this.#options = options;
  }

  start(): void {
    this.#options.informer.addHandler({
      onAdd: (lease) => this.#see(lease, false),
      onUpdate: (_, lease) => this.#see(lease, false),
      onDelete: (lease) => this.#see(lease, true),
    });
  }

  stop(): void {
    this.#cancel?.();
  }

  /** Who lives, in the order of their names. */
  get peers(): readonly string[] {
    return this.#peers;
  }

  /** A fence, also one that is gone: it protects who was seen to hold it. */
  fence(name: string): { seen: SeenLease; lease: Lease } | undefined {
    return this.#entries.get(name);
  }

  /** Leases that nobody can hold since so long ago. */
  unheldFor(ms: number): Lease[] {
    const now = this.#options.monotonic();
    return [...this.#entries.values()]
      .filter(({ seen, gone }) => !gone && now >= seen.at + seen.validMs + ms)
      .map(({ lease }) => lease);
  }

  #see(lease: Lease, gone: boolean): void {
    const name = lease.metadata?.name ?? '';
    const { monotonic, leaseDurationMs, onFence } = this.#options;
    const now = monotonic();
    const before = this.#entries.get(name)?.seen;
    const seen = observeLease(gone ? undefined : (lease.spec ?? {}), before, now, leaseDurationMs);
    if (gone && now >= seen.at + seen.validMs) this.#entries.delete(name);
    else this.#entries.set(name, { seen, lease, gone });
    if (isPeerLease(lease)) this.#count();
    else onFence(name);
  }

  /** Who lives now; looks again when the next one may have died. */
  #count(): void {
    this.#cancel?.();
    const { clock, monotonic, onPeers } = this.#options;
    const now = monotonic();
    const live = [...this.#entries.values()].filter(
      ({ lease, seen, gone }) =>
        !gone && isPeerLease(lease) && seen.spec?.holderIdentity && now < seen.at + seen.validMs,
    );
    const nextMs = Math.min(...live.map(({ seen }) => seen.at + seen.validMs - now));
    if (live.length > 0) this.#cancel = clock.setTimer(() => this.#count(), nextMs, { background: true });
    const peers = [...new Set(live.map(({ seen }) => seen.spec?.holderIdentity ?? ''))].sort();
    if (peers.join('\0') === this.#peers.join('\0')) return;
    this.#peers = peers;
    onPeers();
  }
}
