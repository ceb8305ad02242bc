import type { Clock } from '@asterism/client';
import { TunnelError } from '../tunnel-error.ts';

/** A body whose reader has stopped. */
export interface StalledBody {
  /** Bytes that wait for the reader. */
  readonly backlog: number;
  destroy(error: Error): void;
}

const CHECK_MS = 250;

/**
 * Bounds what readers that stopped make this process keep for one agent. A stopped stream holds at most its window; with many of
 * them that is much, so above `maxBytes` in all the largest are reset.
 */
export class StalledBodies {
  readonly #name: string;
  readonly #maxBytes: number;
  readonly #clock: Clock;
  readonly #bodies = new Set<StalledBody>();
  #checking = false;

  constructor(options: { name: string; maxBytes: number; clock: Clock }) {
    this.#name = options.name;
    this.#maxBytes = options.maxBytes;
    this.#clock = options.clock;
  }

  add(body: StalledBody): void {
    this.#bodies.add(body);
    this.#checkLater();
  }

  delete(body: StalledBody): void {
    this.#bodies.delete(body);
  }

  #checkLater(): void {
    if (this.#checking || this.#bodies.size === 0) return;
    this.#checking = true;
    this.#clock.setTimer(() => this.#check(), CHECK_MS, { background: true });
  }

  #check(): void {
    this.#checking = false;
    const bySize = [...this.#bodies].sort((one, other) => other.backlog - one.backlog);
    let total = bySize.reduce((sum, body) => sum + body.backlog, 0);
    for (const body of bySize) {
      if (total <= this.#maxBytes) break;
      total -= body.backlog;
      this.#bodies.delete(body);
      body.destroy(
        new TunnelError(
          'STALLED',
          `tunnel to "${this.#name}": reset, because its reader stopped and ${this.#maxBytes} bytes of stopped readers are ` +
            `the limit; read on, or ask again`,
        ),
      );
    }
    this.#checkLater();
  }
}
