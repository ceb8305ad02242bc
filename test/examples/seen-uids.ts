import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import type { Connection } from '@asterism/client';

interface SeenObject {
  metadata: { name: string; uid: string; resourceVersion: string; labels?: Record<string, string> };
}

const RETRY_MS = 200;

/**
 * Keeps count of the objects of a kind in one namespace, through whatever befalls the server: which uids bore a name, or a label's
 * value. It lists and watches by nothing but Node's own requests, so that it owes nothing to what is tested.
 */
export class SeenUids implements AsyncDisposable {
  readonly #connection: Connection;
  readonly #path: string;
  readonly #seen = new Map<string, SeenObject['metadata']>();
  readonly #stop = new AbortController();
  readonly #watching: Promise<void>;

  /** @param path of the list: `/apis/batch/v1/namespaces/default/jobs`. */
  constructor(connection: Connection, path: string) {
    this.#connection = connection;
    this.#path = path;
    this.#watching = this.#watch();
  }

  /** How many different objects bore that name. */
  of(name: string): number {
    return [...this.#seen.values()].filter((metadata) => metadata.name === name).length;
  }

  /** How many different objects bore each value of that label. */
  byLabel(label: string): Map<string, number> {
    const counts = new Map<string, number>();
    for (const { labels } of this.#seen.values()) {
      const value = labels?.[label];
      if (value !== undefined) counts.set(value, (counts.get(value) ?? 0) + 1);
    }
    return counts;
  }

  async #watch(): Promise<void> {
    const { signal } = this.#stop;
    let from: string | undefined;
    while (!signal.aborted) {
      try {
        from ??= await this.#list();
        from = await this.#follow(from);
      } catch {
        // The server is away, or was killed: what it goes on from is as good as before.
        await delay(RETRY_MS, undefined, { signal }).catch(() => {});
      }
    }
  }

  async #list(): Promise<string> {
    const response = await this.#get('');
    if (response.statusCode !== 200) throw new Error(`${this.#path}: ${response.statusCode}`);
    let text = '';
    for await (const part of response.setEncoding('utf8')) text += part as string;
    const { items, metadata } = JSON.parse(text) as { items: SeenObject[]; metadata: { resourceVersion: string } };
    for (const item of items) this.#note(item);
    return metadata.resourceVersion;
  }

  /** Resolves with where to go on when the watch has ended; with undefined when it has to begin anew. */
  async #follow(resourceVersion: string): Promise<string | undefined> {
    let from = resourceVersion;
    const response = await this.#get(`?watch=true&allowWatchBookmarks=true&resourceVersion=${from}`);
    response.on('error', () => {}); // Its lines end.
    if (response.statusCode !== 200) {
      response.destroy();
      if (response.statusCode === 410) return undefined;
      throw new Error(`a watch of ${this.#path}: ${response.statusCode}`);
    }
    for await (const line of createInterface({ input: response })) {
      const { type, object } = JSON.parse(line) as { type: string; object: SeenObject };
      if (type === 'ERROR') return undefined;
      from = object.metadata.resourceVersion;
      if (type !== 'BOOKMARK') this.#note(object);
    }
    return from;
  }

  #note({ metadata }: SeenObject): void {
    if (!this.#seen.has(metadata.uid)) this.#seen.set(metadata.uid, metadata);
  }

  async #get(query: string): Promise<IncomingMessage> {
    const { server, caData, credential } = this.#connection;
    if (credential.kind !== 'certificate') throw new Error('only a client certificate is known here');
    const { cert, key } = credential;
    const { signal } = this.#stop;
    const asked = request(`${server}${this.#path}${query}`, { ca: caData, cert, key, agent: false, signal }).end();
    const [response] = (await once(asked, 'response')) as [IncomingMessage];
    asked.on('error', () => {}); // The response tells of it.
    return response;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#watching;
  }
}
