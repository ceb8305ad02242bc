import type { Client } from '@asterism/client';
import type { Cache } from '../cache/cache.ts';
import type { Cluster, Engagement } from '../cluster/cluster.ts';
import type { ClusterHealth } from '../instruments/cluster-health.ts';
import { guardedClient } from '../cluster/guarded-client.ts';

/**
 * A member cluster as its provider sees it, whoever acts on it. What it tells is what this process knows of it; while another
 * process holds it, that is nothing, and writes are refused.
 */
export class OfferedCluster implements Cluster {
  readonly name: string;
  readonly #abort = new AbortController();
  readonly #mayAct: () => boolean;
  #replaced = new AbortController();
  #credentials: Client;
  #engagement: Engagement | undefined;

  constructor(name: string, client: Client, mayAct: () => boolean) {
    this.name = name;
    this.#credentials = client;
    this.#mayAct = mayAct;
  }

  get client(): Client {
    return this.#engagement?.cluster.client ?? guardedClient(this.#credentials, this.#mayAct);
  }

  get replaced(): AbortSignal {
    return this.#replaced.signal;
  }

  /** Throws while another process holds the cluster. */
  get cache(): Cache {
    if (!this.#engagement) throw new Error(`cluster "${this.name}" is not this process's: it has no cache here`);
    return this.#engagement.cluster.cache;
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  health(): ClusterHealth {
    return this.#engagement?.cluster.health() ?? 'Connected';
  }

  answersAgain(signal: AbortSignal): Promise<boolean> {
    return this.#engagement?.cluster.answersAgain(signal) ?? Promise.resolve(false);
  }

  onReturn(callback: () => void): () => void {
    return this.#engagement?.cluster.onReturn(callback) ?? (() => {});
  }

  /** This process acts on it from now on. */
  begin(engage: (name: string, client: Client) => Engagement): void {
    this.#engagement = engage(this.name, this.#credentials);
  }

  /** Resolves when nothing works on it here. */
  async end(): Promise<void> {
    await this.#engagement?.disengage();
    this.#engagement = undefined;
  }

  replaceClient(client: Client): void {
    this.#credentials = client;
    this.#engagement?.replaceClient(client);
    const before = this.#replaced;
    this.#replaced = new AbortController();
    before.abort(new Error(`the client of cluster "${this.name}" was replaced`));
  }

  abort(reason: Error): void {
    this.#abort.abort(reason);
  }
}
