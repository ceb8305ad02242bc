import type { Duplex } from 'node:stream';
import type { Clock } from '@asterism/client';
import { bytesOf } from './socket.ts';

/** An HTTP/2 session, or one of frames. */
export interface Pingable {
  readonly destroyed: boolean;
  ping(onAnswer: (error: Error | null) => void): unknown;
}

export interface HeartbeatOptions {
  intervalMs: number;
  timeoutMs: number;
  clock: Clock;
  onRoundTrip: (ms: number) => void;
  /** The peer is gone: called once, after which nothing is called. */
  onDead: () => void;
}

/**
 * Sends a PING every `intervalMs`. The peer is dead when within `timeoutMs` neither the answer nor any other byte came:
 * on a full line the answer may stand behind megabytes of data.
 *
 * @returns what stops it.
 */
export function startHeartbeat(session: Pingable, socket: Duplex, options: HeartbeatOptions): () => void {
  const { intervalMs, timeoutMs, clock, onRoundTrip, onDead } = options;
  let stopped = false;
  let cancelTimer = (): void => {};
  const later = (act: () => void, ms: number): void => {
    cancelTimer = clock.setTimer(act, ms, { background: true });
  };
  const stop = (): void => {
    stopped = true;
    cancelTimer();
  };

  const beat = (): void => {
    const before = bytesOf(socket).received;
    const sentAt = performance.now();
    let answered = false;
    if (!session.destroyed) {
      session.ping((error) => {
        if (error || stopped) return;
        answered = true;
        onRoundTrip(performance.now() - sentAt);
      });
    }
    const judge = (): void => {
      if (stopped) return;
      if (answered || bytesOf(socket).received > before) return later(beat, Math.max(0, intervalMs - timeoutMs));
      stop();
      onDead();
    };
    // After a pause of this whole process timers fire before what has arrived meanwhile is read: let that be read first.
    later(() => setImmediate(() => setImmediate(judge)), timeoutMs);
  };
  later(beat, intervalMs);
  return stop;
}
