import type { Duplex } from 'node:stream';
import type { Clock } from '@asterism/client';

export interface IdleProbe {
  /** A sign of life came. */
  alive(): void;
  /** Sends no more probes, as what is written next belongs to a message; goes on watching for signs of life. */
  stopSending(): void;
  /** Needs no more signs of life, as what comes next belongs to a message; goes on sending. */
  stopWatching(): void;
  stop(): void;
}

export interface IdleProbeOptions {
  intervalMs: number;
  timeoutMs: number;
  clock: Clock;
  onDead: () => void;
}

/**
 * Keeps a waiting upgrade connection alive: each end sends a blank line every `intervalMs` (a recipient skips those before a
 * head, RFC 9112 2.2), so that no middlebox forgets the connection, and takes the other for dead when nothing came for
 * `intervalMs` + `timeoutMs`.
 */
export function startIdleProbe(socket: Duplex, { intervalMs, timeoutMs, clock, onDead }: IdleProbeOptions): IdleProbe {
  let signsOfLife = 0;
  let watching = true;

  const send = (): void => {
    if (socket.writable) socket.write('\r\n');
    cancelSend = clock.setTimer(send, intervalMs, { background: true });
  };
  const judge = (before: number): void => {
    if (watching && before === signsOfLife) onDead();
  };
  const onDeadline = (): void => {
    const before = signsOfLife;
    // After a pause of this whole process timers fire before what has arrived meanwhile is read: let that be read first.
    setImmediate(() => setImmediate(judge, before));
  };
  const setDeadline = (): (() => void) => clock.setTimer(onDeadline, intervalMs + timeoutMs, { background: true });

  let cancelSend = clock.setTimer(send, intervalMs, { background: true });
  let cancelDeadline = setDeadline();
  const stopSending = (): void => cancelSend();
  const stopWatching = (): void => {
    watching = false;
    cancelDeadline();
  };
  return {
    alive() {
      signsOfLife += 1;
      cancelDeadline();
      if (watching) cancelDeadline = setDeadline();
    },
    stopSending,
    stopWatching,
    stop() {
      stopSending();
      stopWatching();
    },
  };
}
