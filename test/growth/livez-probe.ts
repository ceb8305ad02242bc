import { setTimeout as pause } from 'node:timers/promises';
import type { GrowthServer } from './growth-server.ts';

const PAUSE_MS = 10;

/** Asks for `/livez` over a connection of its own, one time after the other, until it is stopped. */
export class LivezProbe {
  readonly #server: GrowthServer;
  readonly #asking: Promise<void>;
  #stopped = false;
  #longestMs = 0;

  constructor(server: GrowthServer) {
    this.#server = server;
    this.#asking = this.#ask();
  }

  /** The longest that an answer took, in milliseconds of a clock on the wall. */
  async stop(): Promise<number> {
    this.#stopped = true;
    await this.#asking;
    return this.#longestMs;
  }

  async #ask(): Promise<void> {
    while (!this.#stopped) {
      const start = performance.now();
      const { status } = await this.#server.livez();
      if (status !== 200) throw new Error(`/livez: ${status}`);
      this.#longestMs = Math.max(this.#longestMs, performance.now() - start);
      await pause(PAUSE_MS);
    }
  }
}
