import type { Client } from '@asterism/client';
import { ManualClock } from '@asterism/client/testing';
import { CONFIG_MAPS } from '@asterism/machinery';
import { type WatcherProgress, watchResource } from '@asterism/runtime';
import { Waiting } from './waiting.ts';

/**
 * What `watchResource` of `@asterism/runtime` makes of the ConfigMaps in `default` of a server that misbehaves. Its waits after failures are noted
 * and take no time; its watchdog's time is moved by the test.
 */
export class FollowedConfigMaps implements AsyncDisposable {
  readonly clock = new ManualClock();
  /** `data.value` by name, as the watcher told them. */
  readonly values = new Map<string, string | undefined>();
  /** What was told: `Init`, `Apply a` … */
  readonly told: string[] = [];
  /** Milliseconds that it waited after each failure. */
  readonly waits: number[] = [];
  readonly errors: unknown[] = [];
  readonly #abort = new AbortController();
  readonly #waiting = new Waiting();
  readonly #ended: Promise<void>;

  constructor(client: Client) {
    this.#ended = this.#follow(client);
    void this.#hurry();
  }

  /** Resolves when the values are these. */
  async have(values: Record<string, string>): Promise<void> {
    const wanted = Object.entries(values).map(([name, value]) => `${name}=${value}`);
    await this.#waiting.until(() => {
      const held = [...this.values].map(([key, value]) => `${key}=${value}`);
      return held.length === wanted.length && wanted.every((each) => held.includes(each));
    });
  }

  /** Resolves when so many failures have been waited for. */
  async failed(count = 1): Promise<void> {
    await this.#waiting.until(() => this.errors.length >= count);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#abort.abort();
    await this.#ended;
  }

  async #follow(client: Client): Promise<void> {
    const events = watchResource(client.resource(CONFIG_MAPS), {
      namespace: 'default',
      signal: this.#abort.signal,
      clock: this.clock,
      random: () => 0,
      onProgress: (progress) => this.#note(progress),
    });
    let arriving = new Map<string, string | undefined>();
    for await (const event of events) {
      const key = 'object' in event ? (event.object.metadata?.name ?? '') : '';
      const value = 'object' in event ? event.object.data?.['value'] : undefined;
      if (event.type === 'Init') arriving = new Map();
      else if (event.type === 'InitApply') arriving.set(key, value);
      else if (event.type === 'Apply') this.values.set(key, value);
      else if (event.type === 'Delete') this.values.delete(key);
      else {
        this.values.clear();
        for (const [name, each] of arriving) this.values.set(name, each);
      }
      this.told.push(`${event.type} ${key}`.trim());
      this.#waiting.tell();
    }
  }

  async #hurry(): Promise<void> {
    while (!this.#abort.signal.aborted) this.clock.advance(await this.clock.timer((ms) => ms <= 60_000));
  }

  #note(progress: WatcherProgress): void {
    if (progress.state !== 'waiting') return;
    this.waits.push(progress.delayMs);
    this.errors.push(progress.error);
    this.#waiting.tell();
  }
}
