import { failure } from '@asterism/machinery';

/** A request that has waited for so long is sent away: a quarter of upstream's time for a whole request. */
const WAIT_MS = 15_000;

/** Gives a seat back. May be called again. */
export type Leave = () => void;

/** One user's share. */
interface Share {
  seats: number;
  /** Its requests without a seat, the oldest first. */
  line: Waiting[];
}

interface Waiting {
  take(leave: Leave): void;
}

/**
 * How many requests are served at once, and whose turn it is. Those that are long by nature (watches, proxied connections) do
 * not come here.
 *
 * F1. A request takes a seat until its answer has left. While one is free, nobody waits.
 * F2. Then each user has a line of its own, and a seat that becomes free goes to the user who has the fewest, of several to the
 *     one who has waited longest: however many requests one sends, another's next one is soon served.
 * F3. A line is as long as there are seats. Who comes then, or has waited for 15 s, is answered 429 with `Retry-After`.
 */
export class FairSeats {
  readonly #waitMs: number;
  readonly #most: number;
  readonly #shares = new Map<string, Share>();
  /** Users who wait, longest first. */
  readonly #waiting = new Set<string>();
  #taken = 0;

  constructor(seats: number, waitMs = WAIT_MS) {
    this.#most = seats;
    this.#waitMs = waitMs;
  }

  /** Takes a seat, at once where one is free. Throws or rejects with 429, or with the signal's reason. */
  enter(user: string, signal: () => AbortSignal): Leave | Promise<Leave> {
    const share = this.#shareOf(user);
    if (this.#taken < this.#most) return this.#seat(user, share);
    if (share.line.length >= this.#most) throw tooManyRequests();
    return this.#wait(user, share, signal());
  }

  #wait(user: string, share: Share, signal: AbortSignal): Promise<Leave> {
    const { promise, resolve, reject } = Promise.withResolvers<Leave>();
    const settle = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
    };
    const waiting: Waiting = {
      take: (leave) => {
        settle();
        resolve(leave);
      },
    };
    const giveUp = (reason: Error): void => {
      settle();
      share.line.splice(share.line.indexOf(waiting), 1);
      this.#tidy(user, share);
      reject(reason);
    };
    const onAbort = (): void => giveUp(signal.reason as Error);
    const timer = setTimeout(() => giveUp(tooManyRequests()), this.#waitMs);
    signal.addEventListener('abort', onAbort, { once: true });
    share.line.push(waiting);
    this.#waiting.add(user);
    if (signal.aborted) onAbort();
    return promise;
  }

  #seat(user: string, share: Share): Leave {
    this.#taken++;
    share.seats++;
    let left = false;
    return () => {
      if (left) return;
      left = true;
      this.#taken--;
      share.seats--;
      this.#tidy(user, share);
      this.#next();
    };
  }

  #next(): void {
    let chosen: { user: string; share: Share } | undefined;
    for (const user of this.#waiting) {
      const share = this.#shareOf(user);
      if (chosen === undefined || share.seats < chosen.share.seats) chosen = { user, share };
    }
    if (chosen === undefined) return;
    const { user, share } = chosen;
    // Behind those who wait as well.
    this.#waiting.delete(user);
    const [first] = share.line.splice(0, 1);
    if (share.line.length > 0) this.#waiting.add(user);
    first!.take(this.#seat(user, share));
  }

  #shareOf(user: string): Share {
    let share = this.#shares.get(user);
    if (share === undefined) this.#shares.set(user, (share = { seats: 0, line: [] }));
    return share;
  }

  #tidy(user: string, share: Share): void {
    if (share.line.length === 0) this.#waiting.delete(user);
    if (share.line.length === 0 && share.seats === 0) this.#shares.delete(user);
  }
}

function tooManyRequests(): Error {
  return failure(429, 'Too many requests, please try again later.', { details: { retryAfterSeconds: 1 } });
}
