import type { Readable, Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import type { Process } from '../machine/container-runtime.ts';
import type { CommandStreams } from './command-streams.ts';
import { exitStatus, failureStatus } from './exit-status.ts';
import { TerminalSizes } from './terminal-sizes.ts';

/**
 * Connects a process with its caller until either ends. The process is let go of (`kill`) when `gone` resolves first; its
 * status is sent after all of its output. Its input ends when the caller says so, not when he vanishes: what was attached to
 * reads on.
 */
export async function serveCommand(
  process: Process,
  command: readonly string[],
  streams: CommandStreams,
  gone: Promise<void>,
): Promise<void> {
  feed(streams.stdin, process.stdin);
  followSize(streams.resize, process);
  const outputs = [drain(process.stdout, streams.stdout), drain(process.stderr, streams.stderr)];
  const ended = process.exit.then(async ({ code }) => {
    await Promise.all(outputs);
    return code;
  });
  try {
    const code = await Promise.race([ended, gone]);
    if (code === undefined) process.kill('KILL');
    else streams.sendStatus(exitStatus(command, code));
  } catch (error) {
    streams.sendStatus(failureStatus(error));
  } finally {
    streams.stdin?.unpipe(process.stdin);
    streams.finish();
  }
}

/** What the process does not read any more is read for it: the caller must not be held up by it. */
function feed(from: Readable | undefined, to: Writable): void {
  to.on('error', () => {});
  if (from === undefined) return;
  from.on('error', () => {});
  to.once('close', () => {
    from.unpipe(to);
    from.resume();
  });
  from.pipe(to);
}

/** Resolves when all of it has been taken, by the caller or, where he does not want it, by nobody. */
async function drain(from: Readable, to: Writable | undefined): Promise<void> {
  from.on('error', () => {});
  if (to === undefined) {
    from.resume();
    await finished(from, { writable: false }).catch(() => {});
    return;
  }
  to.on('error', () => {});
  to.once('close', () => {
    from.unpipe(to);
    from.resume();
  });
  from.pipe(to);
  await Promise.race([finished(to, { readable: false }), finished(from, { writable: false })]).catch(() => {});
  // The last bytes may still be on their way into `to`.
  if (!to.destroyed) await finished(to, { readable: false }).catch(() => {});
}

function followSize(from: Readable | undefined, process: Process): void {
  const sizes = new TerminalSizes();
  from?.on('error', () => {});
  from?.on('data', (piece: Uint8Array) => {
    for (const size of sizes.read(piece)) process.resize(size);
  });
}
