import type { Writable } from 'node:stream';

/** How the answers of one connection share it. */
export interface Turns {
  /** Whether another piece may be written now. */
  readonly open: boolean;
  /** A piece of so many bytes was written. */
  spend(bytes: number): void;
  /** Calls back when it is open again. */
  wait(act: () => void): void;
}

/** Where the bytes of one answer go. */
export interface Sink {
  readonly stream: Writable;
  /** Of its connection, where that carries many answers at once. */
  readonly turns?: Turns | undefined;
  /** How long a piece may lie untaken before the answer is cut off, as if its reader had left. */
  readonly stallMs: number;
  /** Ends it so that its reader knows that it is not whole. */
  cut(): void;
}
