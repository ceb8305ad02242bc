import { type Client, unlessAborted } from '@asterism/client';
import { type Deployment, DEPLOYMENTS } from '@asterism/machinery';
import { NAMESPACE } from './bench-deployment.ts';

const WAIT_MS = 60_000;

interface Seen {
  /** When it was first seen, by `performance.now()`. */
  standing: PromiseWithResolvers<number>;
  /** How many replicas have been seen ready, and who waits for more. */
  ready: number;
  waiting: { replicas: number; done: PromiseWithResolvers<void> }[];
}

/** What a watch of one API server's Deployments has told: the view of somebody who asks that server directly. */
export class DeploymentsSeen implements AsyncDisposable {
  readonly #seen = new Map<string, Seen>();
  readonly #stop = new AbortController();
  readonly #server: string;
  readonly #signal: AbortSignal;
  readonly #following: Promise<void>;

  private constructor(client: Client, opened: PromiseWithResolvers<void>, server: string, signal: AbortSignal) {
    this.#server = server;
    this.#signal = signal;
    this.#following = this.#follow(client, opened);
  }

  /** Resolves when the watch stands. `server` is its name in messages; `signal` ends every wait. */
  static async open(client: Client, server: string, signal: AbortSignal): Promise<DeploymentsSeen> {
    const opened = Promise.withResolvers<void>();
    const seen = new DeploymentsSeen(client, opened, server, signal);
    await opened.promise;
    return seen;
  }

  /** Resolves with the moment (`performance.now()`) in which it was first seen. Rejects after a minute, as `ready` does. */
  standing(name: string): Promise<number> {
    return this.#wait(this.#of(name).standing.promise, `${name} does not stand`);
  }

  /** Resolves when its status tells of so many ready replicas of its present generation. */
  async ready(name: string, replicas: number): Promise<void> {
    const seen = this.#of(name);
    if (seen.ready >= replicas) return;
    const done = Promise.withResolvers<void>();
    seen.waiting.push({ replicas, done });
    await this.#wait(done.promise, `${name} has not ${replicas} ready replicas`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#following;
  }

  async #wait<T>(what: Promise<T>, otherwise: string): Promise<T> {
    const signal = AbortSignal.any([this.#signal, AbortSignal.timeout(WAIT_MS)]);
    try {
      return await unlessAborted(what, signal);
    } catch (error) {
      if (this.#signal.aborted || !signal.aborted) throw error;
      throw new Error(`${otherwise} in ${this.#server} after ${WAIT_MS / 1000} s`);
    }
  }

  async #follow(client: Client, opened: PromiseWithResolvers<void>): Promise<void> {
    const { signal } = this.#stop;
    const deployments = client.resource(DEPLOYMENTS);
    try {
      const options = { namespace: NAMESPACE, cutManagedFields: true, signal, onOpen: () => opened.resolve() };
      for await (const event of deployments.watch(options)) {
        if (event.type === 'ADDED' || event.type === 'MODIFIED') this.#note(event.object as Deployment);
      }
      if (!signal.aborted) throw new Error('the server ended the watch');
    } catch (error) {
      if (signal.aborted) return;
      const failure = new Error(`watch of Deployments: ${(error as Error).message}`);
      opened.reject(failure);
      for (const { standing, waiting } of this.#seen.values()) {
        standing.reject(failure);
        for (const { done } of waiting) done.reject(failure);
      }
    }
  }

  #note({ metadata, status }: Deployment): void {
    const seen = this.#of(metadata?.name ?? '');
    seen.standing.resolve(performance.now());
    if ((status?.observedGeneration ?? 0) < (metadata?.generation ?? 0)) return;
    seen.ready = status?.readyReplicas ?? 0;
    for (const { replicas, done } of seen.waiting) if (seen.ready >= replicas) done.resolve();
  }

  #of(name: string): Seen {
    let seen = this.#seen.get(name);
    if (seen === undefined) {
      seen = { standing: Promise.withResolvers(), ready: 0, waiting: [] };
      seen.standing.promise.catch(() => {}); // Not every one is waited for.
      this.#seen.set(name, seen);
    }
    return seen;
  }
}
