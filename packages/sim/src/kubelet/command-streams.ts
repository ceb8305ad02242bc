import type { Readable, Writable } from 'node:stream';
import type { CommandStatus } from './exit-status.ts';

/** Which streams a caller of exec or attach asked for. */
export interface CommandRequest {
  stdin: boolean;
  stdout: boolean;
  stderr: boolean;
  tty: boolean;
}

/** The streams between a caller and a process, whatever carries them. */
export interface CommandStreams {
  readonly stdin?: Readable | undefined;
  readonly stdout?: Writable | undefined;
  readonly stderr?: Writable | undefined;
  /** JSON values of `{"Width":…,"Height":…}`, one after the other. */
  readonly resize?: Readable | undefined;
  /** Says how it ended, in the form of the protocol. */
  sendStatus(status: CommandStatus): void;
  /** Ends the connection after what has been written. */
  finish(): void;
}
