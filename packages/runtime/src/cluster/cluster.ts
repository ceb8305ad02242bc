import { type Client, READ_LIMIT_CODE } from '@asterism/client';
import { type Cache, type CacheOptions, type CacheStatus, InformerCache } from '../cache/cache.ts';
import { guardedClient } from './guarded-client.ts';
import type { ClusterHealth } from '../instruments/cluster-health.ts';
import type { Instruments } from '../instruments/instruments.ts';
import { SilenceMeter } from '../watch/silence-meter.ts';

/**
 * A cluster of a manager: its client, its cache, and how it is.
 *
 * @example
 * ```ts
 * if (cluster.health() === 'Connected') {
 *   const { gitVersion } = await cluster.client.version({ signal: cluster.signal });
 *   logger.info({ cluster: cluster.name, gitVersion }, 'is well');
 * } else if (await cluster.answersAgain(signal)) logger.info({ cluster: cluster.name }, 'is back');
 * ```
 */
export interface Cluster {
  readonly name: string;
  /** The client of now: it changes when credentials do, so do not keep it. */
  readonly client: Client;
  /** Aborts when `client` is replaced: a watch that was opened with it goes on with the next one. */
  readonly replaced: AbortSignal;
  readonly cache: Cache;
  /** Aborts when the cluster is disengaged. */
  readonly signal: AbortSignal;
  /** By what the watches of its cache see; a cluster that nothing watches is `Connected`. */
  health(): ClusterHealth;
  /**
   * For who waits because the cluster gave no answer: resolves with true when it answers again, with false when it has not been
   * silent. However many wait, the cluster is asked at most twice a second, and ever more seldom. Rejects when the signal aborts.
   */
  answersAgain(signal: AbortSignal): Promise<boolean>;
  /** Calls back when the cluster answers again, after watches of its cache had no answer. Returns what ends that. */
  onReturn(callback: () => void): () => void;
}

/**
 * A cluster's stay with a manager.
 *
 * @example {@link ClusterProvider}
 */
export interface Engagement {
  readonly cluster: Cluster;
  /** Purges its queues, limiters and stores; resolves when its last reconcile has ended. */
  disengage(): Promise<void>;
  /** New credentials, or another way there. Stores are kept and watches resume. */
  replaceClient(client: Client): void;
}

/**
 * Tells which clusters there are, for as long as it runs.
 *
 * @example
 * ```ts
 * const provider: ClusterProvider = {
 *   name: 'by hand',
 *   async run(engage, signal) {
 *     const paris = engage('paris', client);
 *     await sleep(systemClock, 3_600_000, signal).catch(() => {});
 *     await paris.disengage();
 *   },
 * };
 * ```
 */
export interface ClusterProvider {
  readonly name?: string;
  /**
   * `engage` returns at once, whether or not the cluster can be reached. It throws for a name that is engaged already, and what a
   * callback of `onEngage` throws: the cluster is not engaged then.
   */
  run(engage: (name: string, client: Client) => Engagement, signal: AbortSignal): Promise<void>;
  /** What it must have listed to know the clusters, while it runs: the manager is ready only when that is there. */
  status?(): CacheStatus[];
}

export interface EngagedClusterOptions extends CacheOptions {
  /** Whether the client may write now. Always, where it is absent. */
  mayAct?: (() => boolean) | undefined;
  /** Told of it from its coming to its going. */
  metrics?: Instruments | undefined;
}

/** A cluster that a manager holds. */
export class EngagedCluster implements Cluster {
  readonly name: string;
  readonly cache: InformerCache;
  readonly #abort = new AbortController();
  readonly #mayAct: (() => boolean) | undefined;
  readonly #metrics: Instruments | undefined;
  readonly #silence: SilenceMeter;
  #measuredClient: Client;
  #client: Client;

  constructor(name: string, client: Client, { mayAct, metrics, ...options }: EngagedClusterOptions) {
    this.name = name;
    this.#mayAct = mayAct;
    this.#metrics = metrics;
    this.#silence = new SilenceMeter(options.clock);
    const measured = this.#measured(client);
    this.#measuredClient = measured;
    this.#client = this.#guarded(measured);
    const onList = (resource: string, reason: string): void => metrics?.listed(name, resource, reason);
    // Whose own delay is over before the next knock finds it out for all.
    const onAnswer = (): void => {
      if (this.health() === 'Unreachable') this.cache.knocker.returned();
    };
    this.cache = new InformerCache(measured, { ...options, onList, onAnswer });
    metrics?.engaged({ name, status: () => this.cache.status(), health: () => this.health() });
  }

  get client(): Client {
    return this.#client;
  }

  /** The client of now, that lets writes pass while `mayAct` says so, and no matter what the cluster's own right is. */
  clientWhile(mayAct: () => boolean): Client {
    return guardedClient(this.#measuredClient, mayAct);
  }

  get replaced(): AbortSignal {
    return this.cache.replaced;
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** For how long it has left unanswered what it was asked; 0 where it owes no answer. */
  get silentMs(): number {
    return this.#silence.silentMs;
  }

  health(): ClusterHealth {
    // One that has just begun, and has neither an answer nor a failure, says nothing.
    const telling = this.cache
      .status()
      .map(({ status }) => status)
      .filter(({ failures, lastContact }) => failures > 0 || lastContact !== undefined);
    const failing = telling.filter(({ failures }) => failures > 0);
    if (failing.length === 0) return 'Connected';
    // A code of the network is a word, an answer of the server is a number. A server that sends too much answers too.
    return failing.length === telling.length &&
      failing.every(({ code }) => typeof code === 'string' && code !== READ_LIMIT_CODE)
      ? 'Unreachable'
      : 'Stale';
  }

  answersAgain(signal: AbortSignal): Promise<boolean> {
    return this.cache.knocker.answersAgain(signal);
  }

  onReturn(callback: () => void): () => void {
    return this.cache.knocker.onReturn(callback);
  }

  replaceClient(client: Client): void {
    const measured = this.#measured(client);
    this.#measuredClient = measured;
    this.#client = this.#guarded(measured);
    this.cache.replaceClient(measured);
  }

  /** Tells everybody who works on it to stop. */
  abort(reason: Error): void {
    this.#abort.abort(reason);
  }

  #measured(client: Client): Client {
    const metrics = this.#metrics;
    return client.through((transport) => {
      const heard = this.#silence.listen(transport);
      return metrics ? metrics.transport(heard, this.name) : heard;
    });
  }

  #guarded(client: Client): Client {
    return this.#mayAct ? guardedClient(client, this.#mayAct) : client;
  }
}
