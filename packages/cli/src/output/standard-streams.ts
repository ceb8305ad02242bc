import type { Readable, Writable } from 'node:stream';
import type { TerminalSize } from '@asterism/client';

/** What a command is connected with where bytes go through it: the process' own streams, or a test's. */
export interface StandardStreams {
  stdin: Readable;
  stdout: Writable;
  stderr: Writable;
  /** The terminal before which the user sits; undefined where input is none. */
  screen: Screen | undefined;
}

export interface Screen {
  /** Undefined where output goes elsewhere. */
  size(): TerminalSize | undefined;
  /** Calls back whenever it changes. Returns what ends that. */
  onResize(changed: () => void): () => void;
  /** Every key goes to the command, Ctrl-C too, until what is returned is called. */
  makeRaw(): () => void;
}

export function processStreams(): StandardStreams {
  const { stdin, stdout, stderr } = process;
  return { stdin, stdout, stderr, screen: stdin.isTTY ? processScreen() : undefined };
}

function processScreen(): Screen {
  const { stdin, stdout } = process;
  return {
    size: () => (stdout.isTTY ? { columns: stdout.columns, rows: stdout.rows } : undefined),
    onResize(changed) {
      stdout.on('resize', changed);
      return () => void stdout.off('resize', changed);
    },
    makeRaw() {
      stdin.setRawMode(true);
      return () => void stdin.setRawMode(false);
    },
  };
}
