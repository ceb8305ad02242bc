import assert from 'node:assert/strict';
import type { Client } from '@asterism/client';
import { CONFIG_MAPS, type KubeObject } from '@asterism/machinery';
import { valueOf } from './acknowledged-writes.ts';

/** Of what a server makes when it first starts. */
const BEFORE_ALL = 2;
const SELECTOR = 'soak=storage';

/** What a client knows that lists once and then only watches, over all deaths of its server. */
export class WatchedObjects {
  readonly #objects = new Map<string, KubeObject>();
  #resourceVersion = 0;
  events = 0;
  /** How often the server no longer had what the watch would have gone on from. */
  expired = 0;

  /** Until `until` is seen, or the server is gone. Rejects where an event cannot be. */
  async follow(client: Client, refused: ReadonlySet<string>, until: (object: KubeObject) => boolean): Promise<boolean> {
    if (this.#resourceVersion === 0) {
      await this.#list(client);
      if ([...this.#objects.values()].some(until)) return true;
    }
    try {
      const resourceVersion = String(this.#resourceVersion);
      for await (const event of client.resource(CONFIG_MAPS).watch({ labelSelector: SELECTOR, resourceVersion })) {
        if (event.type === 'ERROR') {
          assert.equal((event.object as { code?: number }).code, 410, JSON.stringify(event.object));
          this.expired++;
          this.#resourceVersion = 0;
          return await this.follow(client, refused, until);
        }
        if (event.type === 'BOOKMARK') continue;
        this.#apply(event.type, event.object, refused);
        if (until(event.object)) return true;
      }
    } catch (error) {
      if (error instanceof assert.AssertionError) throw error;
    }
    return false;
  }

  /** Forgets all: the next watch asks for everything since before the first write, which the server still has or has not. */
  rewind(): void {
    this.#objects.clear();
    this.#resourceVersion = BEFORE_ALL;
  }

  /** That it knows what a list shows. */
  check(items: readonly KubeObject[]): void {
    const shown = (objects: Iterable<KubeObject>): string[] =>
      [...objects].map((item) => `${item.metadata?.name}@${item.metadata?.resourceVersion}=${valueOf(item)}`).sort();
    assert.deepEqual(shown(this.#objects.values()), shown(items));
  }

  #apply(type: string, object: KubeObject, refused: ReadonlySet<string>): void {
    const { name = '', resourceVersion } = object.metadata ?? {};
    assert.ok(
      Number(resourceVersion) > this.#resourceVersion,
      `an event of ${resourceVersion} after ${this.#resourceVersion}`,
    );
    assert.ok(!refused.has(valueOf(object) ?? ''), `${name} is told as ${valueOf(object)}, which was refused`);
    const known = this.#objects.has(name);
    assert.equal(
      type,
      type === 'DELETED' ? 'DELETED' : known ? 'MODIFIED' : 'ADDED',
      `${name}: ${known ? 'known' : 'unknown'}`,
    );
    if (type === 'DELETED') this.#objects.delete(name);
    else this.#objects.set(name, object);
    this.#resourceVersion = Number(resourceVersion);
    this.events++;
  }

  async #list(client: Client): Promise<void> {
    const { items, metadata } = await client.resource(CONFIG_MAPS).list({ labelSelector: SELECTOR });
    this.#objects.clear();
    for (const item of items) this.#objects.set(item.metadata?.name ?? '', item);
    this.#resourceVersion = Number(metadata?.resourceVersion);
  }
}
