import type { Duplex } from 'node:stream';
import type { Clock } from '@asterism/client';
import { bytesOf } from './socket.ts';

/** A session of frames. */
export interface Pingable {
  readonly destroyed: boolean;
  /** When something last came, in ms of `performance.now()`; undefined where that is not known. */
  readonly heardAt?: number;
  ping(onAnswer: (error: Error | null) => void): unknown;
}

export interface HeartbeatOptions {
  intervalMs: number;
  timeoutMs: number;
  clock: Clock;
  /** The other end sends PINGs as often: while they come, this end sends only one in {@link SPARED}. */
  sparing: boolean;
  /** The shortest of the last minute, at the default interval: what it takes beyond that is said by how busy the ends are. */
  onRoundTrip: (ms: number) => void;
  /** The peer is gone: called once, after which nothing is called. */
  onDead: () => void;
}

/** How many round trips are remembered. */
const REMEMBERED = 6;
/** One PING of so many is sent though the other end is heard, to know how long the line is. */
const SPARED = 6;
/** Of `timeoutMs`: what the other end's PINGs may come late before this end sends one. */
const LATE = 0.2;

/**
 * Sends a PING every `intervalMs`. The peer is dead when within `timeoutMs` neither the answer nor any other byte came:
 * on a full line the answer may stand behind megabytes of data. Whether this end is sparing or not, a peer is found dead
 * within `intervalMs` + `timeoutMs` of its last byte.
 *
 * @returns what stops it.
 */
export function startHeartbeat(session: Pingable, socket: Duplex, options: HeartbeatOptions): () => void {
  const { intervalMs, timeoutMs, clock, sparing, onRoundTrip, onDead } = options;
  const roundTrips: number[] = [];
  const lateMs = sparing ? timeoutMs * LATE : 0;
  let spared = 0;
  let stopped = false;
  let cancelTimer = (): void => {};
  const later = (act: () => void, ms: number): void => {
    cancelTimer = clock.setTimer(act, ms, { background: true });
  };
  const stop = (): void => {
    stopped = true;
    cancelTimer();
  };
  const remember = (ms: number): void => {
    roundTrips.push(ms);
    if (roundTrips.length > REMEMBERED) roundTrips.shift();
    onRoundTrip(Math.min(...roundTrips));
  };

  const beat = (): void => {
    const leftMs = sparing ? (session.heardAt ?? 0) + intervalMs + lateMs - performance.now() : 0;
    if (leftMs > 0 && spared < SPARED - 1) {
      spared += 1;
      return later(beat, leftMs);
    }
    spared = 0;
    ask();
  };
  const ask = (): void => {
    const before = bytesOf(socket).received;
    const sentAt = performance.now();
    let answered = false;
    if (!session.destroyed) {
      session.ping((error) => {
        if (error || stopped) return;
        answered = true;
        remember(performance.now() - sentAt);
      });
    }
    const judge = (): void => {
      if (stopped) return;
      if (answered || bytesOf(socket).received > before)
        return later(beat, Math.max(0, intervalMs - timeoutMs + lateMs));
      stop();
      onDead();
    };
    // After a pause of this whole process timers fire before what has arrived meanwhile is read: let that be read first.
    later(() => setImmediate(() => setImmediate(judge)), timeoutMs - lateMs);
  };
  later(beat, intervalMs);
  return stop;
}
