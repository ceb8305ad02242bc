import type { Lease } from '@asterism/machinery';
import { LEASES } from '@asterism/machinery';
import type { Informer } from '../cache/informer.ts';
import { type ElectorParts, LeaderElector } from '../leader/leader-election.ts';
import { LeaseBoard } from './lease-board.ts';
import { rankPeers } from './rank-peers.ts';
import { Share, type ShareHandler } from './share.ts';
import { checkShardingName, peerLeaseName, peerMetadata } from './shard-leases.ts';
import { SHARDING_TIMES, type ShardingOptions } from './sharding-options.ts';

export interface CoordinatorParts extends ElectorParts {
  /** Of the Leases that bear the installation's label. */
  informer: Pick<Informer<Lease>, 'addHandler' | 'synced'>;
}

/** How often it is looked for Leases that nobody needs, and for how long nobody must have held them. */
const COLLECT_MS = 60_000;
const UNHELD_MS = 600_000;

/**
 * One process's part in sharing clusters with others.
 *
 * H1 A process is a peer for as long as it renews a Lease of its own. Only a peer takes clusters.
 * H2 Each cluster has a fence Lease; who acts on it holds that ({@link Share}).
 * H3 A process that dies or freezes loses its Lease and its fences `leaseDurationMs` later; each cluster then falls to another.
 */
export class ShardCoordinator {
  readonly #options: typeof SHARDING_TIMES & ShardingOptions;
  readonly #parts: CoordinatorParts;
  readonly #board: LeaseBoard;
  readonly #shares = new Map<string, Share>();
  readonly #byFence = new Map<string, Share>();
  readonly #membership = new AbortController();
  #peer: LeaderElector | undefined;
  #ended = Promise.resolve();
  #cancelCollection: (() => void) | undefined;

  /** @throws TypeError for a name that cannot be a Lease's, without an identity, and for times that do not fit. */
  constructor(options: ShardingOptions, parts: CoordinatorParts) {
    checkShardingName(options.name);
    if (options.identity === '') throw new TypeError('sharding needs an identity of this process');
    const { leaseDurationMs, renewDeadlineMs, retryPeriodMs, yieldMs } = SHARDING_TIMES;
    this.#options = {
      ...options,
      leaseDurationMs: options.leaseDurationMs ?? leaseDurationMs,
      renewDeadlineMs: options.renewDeadlineMs ?? renewDeadlineMs,
      retryPeriodMs: options.retryPeriodMs ?? retryPeriodMs,
      yieldMs: options.yieldMs ?? yieldMs,
    };
    this.#parts = parts;
    const { informer, clock, monotonic } = parts;
    this.#board = new LeaseBoard({
      informer,
      clock,
      monotonic,
      leaseDurationMs: this.#options.leaseDurationMs,
      onPeers: () => this.#rank(),
      onFence: (name) => this.#byFence.get(name)?.consider(),
    });
    this.#newPeer(); // The times are looked at.
  }

  start(): void {
    this.#board.start();
    this.#ended = this.#bePeer(this.#membership.signal);
    this.#collectLater();
  }

  /** Whether this process holds the cluster for certain at this moment. */
  mayAct(cluster: string): boolean {
    return this.#shares.get(cluster)?.mayAct() === true;
  }

  /** Whether this process is one of the peers for certain at this moment. */
  isPeer(): boolean {
    return this.#peer?.mayAct() === true;
  }

  /** The clusters that this process holds. */
  held(): string[] {
    return [...this.#shares.values()].filter(({ held }) => held).map(({ cluster }) => cluster);
  }

  /** Takes part in who has this cluster, until {@link withdraw}. */
  offer(cluster: string, handler: ShareHandler): void {
    const { elector, ranking } = { elector: this.#parts, ranking: () => this.#ranking(cluster) };
    const share = new Share(cluster, handler, { options: this.#options, elector, board: this.#board, ranking });
    this.#shares.set(cluster, share);
    this.#byFence.set(share.fence, share);
    share.consider();
  }

  /** Gives the cluster up, should this process hold it; resolves when nothing works on it and another may take it. */
  async withdraw(cluster: string): Promise<void> {
    const share = this.#shares.get(cluster);
    if (!share) return;
    await share.withdraw(new Error(`cluster "${cluster}" is gone`));
    if (this.#shares.get(cluster) !== share) return;
    this.#shares.delete(cluster);
    this.#byFence.delete(share.fence);
  }

  /** Takes no more clusters, and tells the others so. What it holds it keeps until {@link stop}. */
  async retire(): Promise<void> {
    this.#cancelCollection?.();
    this.#membership.abort(new Error('the manager stops'));
    this.#rank();
    await this.#ended;
  }

  /** Lets go of everything that it holds; of what is still worked on when `grace` aborts, the fence is left to run out. */
  async stop(grace?: AbortSignal): Promise<void> {
    await this.retire();
    this.#board.stop();
    const reason = new Error('the manager stops');
    await Promise.all([...this.#shares.values()].map((share) => share.withdraw(reason, grace)));
  }

  /** Renews this process's own Lease; should it be lost, gets it again. Never rejects. */
  async #bePeer(signal: AbortSignal): Promise<void> {
    let former: string | undefined;
    // Who does not know the others takes what is theirs.
    await this.#parts.informer.synced(signal).catch(() => {});
    while (!signal.aborted) {
      const peer = this.#newPeer(former);
      try {
        await peer.campaign(signal);
        this.#peer = peer;
        former = this.#options.identity;
        this.#rank();
        await peer.keep(signal);
      } catch (error) {
        if (!signal.aborted) this.#parts.logger.warn({ err: error }, 'this process is no peer for now');
      }
      this.#peer = undefined;
      this.#rank();
      await peer.release();
    }
  }

  #newPeer(formerIdentity?: string): LeaderElector {
    const { namespace, identity, leaseDurationMs, renewDeadlineMs, retryPeriodMs } = this.#options;
    const name = peerLeaseName(this.#options.name, identity);
    const times = { leaseDurationMs, renewDeadlineMs, retryPeriodMs };
    const { seen: _, ...parts } = this.#parts;
    return new LeaderElector(
      { namespace, name, identity, formerIdentity, ...times },
      { ...parts, metadata: peerMetadata(this.#options.name) },
    );
  }

  #rank(): void {
    for (const share of this.#shares.values()) share.rank();
  }

  #ranking(cluster: string): readonly string[] {
    const { peers } = this.#board;
    if (this.#membership.signal.aborted) return [];
    return this.#peer && peers.includes(this.#options.identity) ? rankPeers(cluster, peers) : [];
  }

  #collectLater(): void {
    const collect = (): void => {
      void this.#collect();
      this.#collectLater();
    };
    this.#cancelCollection = this.#parts.clock.setTimer(collect, COLLECT_MS, { background: true });
  }

  /** Deletes what processes and clusters that are gone have left behind. */
  async #collect(): Promise<void> {
    const { namespace, identity } = this.#options;
    if (rankPeers('', this.#board.peers)[0] !== identity || !this.isPeer()) return;
    const leases = this.#parts.client.resource(LEASES);
    for (const { metadata: { name = '', uid, resourceVersion } = {} } of this.#board.unheldFor(UNHELD_MS)) {
      const preconditions = { uid, resourceVersion };
      await leases.delete({ namespace, name }, { preconditions, signal: this.#membership.signal }).catch((error) => {
        this.#parts.logger.debug({ err: error, lease: name }, 'a Lease that nobody holds was not deleted');
      });
    }
  }
}
