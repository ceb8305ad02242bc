import { basename } from 'node:path';
import { CommanderError } from 'commander';
import { oneLine } from './output/one-line.ts';
import { CommandError, describeError, EXIT, exitCodeOf } from './exit-code.ts';
import { onOutputFailure, processTerminal } from './output/terminal.ts';
import { createProgram } from './program.ts';

/** Runs the command line and leaves its exit code; `kubectl aster` is called as a plugin and says so in its help. */
export async function main(argv: readonly string[]): Promise<void> {
  const terminal = processTerminal();
  const name = basename(argv[1] ?? 'aster').startsWith('kubectl-') ? 'kubectl aster' : 'aster';
  // `aster get pods | head` closes the pipe early: that is no failure.
  onOutputFailure((error) => {
    if (error.code === 'EPIPE') process.exit(EXIT.fine);
    terminal.err(oneLine(`${name}: cannot write to stdout: ${error.message}`));
    process.exit(EXIT.error);
  });
  try {
    process.exitCode = EXIT.fine;
    await createProgram(name, terminal, (code) => {
      process.exitCode = code;
    }).parseAsync([...argv]);
  } catch (error) {
    process.exitCode = report(error, name, terminal.err);
  }
}

function report(error: unknown, name: string, err: (text: string) => void): number {
  // commander has printed its own message, or the help that was asked for.
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.fine : EXIT.usage;
  const prefix = error instanceof CommandError ? `${name}: ` : '';
  err([prefix, describeError(error), '\n'].join(''));
  return exitCodeOf(error);
}
