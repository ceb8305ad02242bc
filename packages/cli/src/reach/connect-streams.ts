import { pipeline } from 'node:stream/promises';
import type { CommandStream } from '@asterism/client';
import type { StandardStreams } from '../output/standard-streams.ts';

/**
 * Connects a command with the user until it ends. Resolves with its exit code when all of its output has been handed on; rejects as
 * its `exit` does. With a terminal every key goes to the command, and it learns the size of the screen.
 */
export async function connectStreams(
  command: CommandStream,
  { stdin, stdout, stderr, screen }: StandardStreams,
  { tty }: { tty: boolean },
): Promise<number> {
  const terminal = tty ? screen : undefined;
  const cook = terminal?.makeRaw();
  const resized = (): void => {
    const size = terminal?.size();
    if (size) command.resize(size);
  };
  const stopFollowing = terminal?.onResize(resized);
  resized();
  try {
    if (command.stdin) feed(stdin, command.stdin);
    const outputs = Promise.all([drain(command.stdout, stdout), drain(command.stderr, stderr)]);
    const code = await command.exit;
    await outputs;
    return code;
  } finally {
    stopFollowing?.();
    cook?.();
    if (command.stdin) letGo(stdin, command.stdin);
  }
}

function feed(from: NodeJS.ReadableStream, to: NodeJS.WritableStream): void {
  // What the command does not read any more is nobody's.
  to.on('error', () => {});
  from.pipe(to);
}

/** Or the process would wait for its own input. */
function letGo(from: NodeJS.ReadableStream & { unref?: () => void }, to: NodeJS.WritableStream): void {
  from.unpipe(to);
  from.pause();
  from.unref?.();
}

async function drain(from: CommandStream['stdout'], to: NodeJS.WritableStream): Promise<void> {
  if (from === undefined) return;
  try {
    await pipeline(from, to, { end: false });
  } catch (error) {
    // The user's own pipe closed: what still comes is for nobody, and must not hold up the rest.
    from.resume();
    if ((error as NodeJS.ErrnoException).code !== 'EPIPE') throw error;
  }
}
