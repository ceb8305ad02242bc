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

/** What reading and writing of a text takes on a machine of the usual speed, in ms. */
const USUAL_MS = 35;

/** How many times longer than usual this machine takes for work of the kind that a server does. */
export function measureSlowness(): number {
  const text = JSON.stringify(
    Array.from({ length: 60_000 }, (_, index) => ({ [`key-${index % 100}`]: String(index) })),
  );
  const times = Array.from({ length: 5 }, () => {
    const start = cpuMs();
    JSON.parse(JSON.stringify(JSON.parse(text)));
    return cpuMs() - start;
  });
  return Math.min(...times) / USUAL_MS;
}
