/** What a thread did between two questions, in milliseconds of its own processor time: another process's load does not count. */
export interface Holds {
  /** The longest time without a turn for anything else. */
  longestMs: number;
  totalMs: number;
}

const TICK_MS = 2;

/** Measures for how long the event loop of this thread is held at a time. */
export class HoldMeter {
  #seen = cpuMs();
  #longest = 0;
  #total = 0;

  constructor() {
    setInterval(() => this.#look(), TICK_MS);
  }

  /** What happened since the last call. */
  take(): Holds {
    this.#look();
    const holds = { longestMs: this.#longest, totalMs: this.#total };
    [this.#longest, this.#total] = [0, 0];
    return holds;
  }

  #look(): void {
    const now = cpuMs();
    this.#longest = Math.max(this.#longest, now - this.#seen);
    this.#total += now - this.#seen;
    this.#seen = now;
  }
}

function cpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
