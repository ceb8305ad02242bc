import type { Clock } from '@asterism/client';

/** client-go's numbers (`tools/record/events_cache.go`): so many messages of a reason are told apart, in so long. */
const TOLD_APART = 9;
const SIMILAR_MS = 600_000;
/** So many events of one object at once, and one more in so long. */
const BURST = 25;
const REFILL_MS = 300_000;
const MOST_REMEMBERED = 4096;

/** What is known of one object's events: little, as there is one for each pod. */
interface Told {
  tokens: number;
  at: number;
  since: number;
  /** Hashes of reasons, each followed by that of a message. */
  messages: readonly number[];
}

/** An event as it is to be written. */
export interface Correlated {
  message: string;
  /** The same for all events that become one. */
  sign: string;
}

/** Holds a source of events to what others can read: a hundred pods made by one set are not a hundred events. */
export class EventCorrelator {
  readonly #clock: Clock;
  /** Oldest first. */
  readonly #told = new Map<string, Told>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Undefined where the event is one too many. */
  correlate(about: string, reason: string, message: string): Correlated | undefined {
    const now = this.#clock.monotonic();
    const told = this.#toldOf(about, now);
    const correlated = this.#gather(told, hashOf(reason), message, now);
    told.tokens = Math.min(BURST, told.tokens + (now - told.at) / REFILL_MS);
    told.at = now;
    if (told.tokens < 1) return undefined;
    told.tokens -= 1;
    return correlated;
  }

  #gather(told: Told, reason: number, message: string, now: number): Correlated {
    if (now - told.since > SIMILAR_MS) Object.assign(told, { since: now, messages: [] });
    const known = told.messages.filter((_, index) => index % 2 === 1 && told.messages[index - 1] === reason);
    const hash = hashOf(message);
    if (!known.includes(hash)) {
      if (known.length >= TOLD_APART) {
        return { message: `(combined from similar events): ${message}`, sign: `combined since ${told.since}` };
      }
      told.messages = [...told.messages, reason, hash];
    }
    return { message, sign: message };
  }

  #toldOf(about: string, now: number): Told {
    const told = this.#told.get(about) ?? { tokens: BURST, at: now, since: now, messages: [] };
    this.#told.delete(about);
    this.#told.set(about, told);
    if (this.#told.size > MOST_REMEMBERED) this.#told.delete(this.#told.keys().next().value!);
    return told;
  }
}

/** FNV-1a of 30 bits, which V8 keeps without an allocation. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash & 0x3fffffff;
}
