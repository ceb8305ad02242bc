import type { Readable, Writable } from 'node:stream';

/** Of a terminal, in characters. */
export interface TerminalSize {
  columns: number;
  rows: number;
}

/** Which container of which pod. */
export interface ContainerAddress {
  namespace: string;
  pod: string;
  /** May be left out where the pod has one container, or says which is meant. */
  container?: string | undefined;
}

/** Which streams are wanted. */
export interface WantedStreams {
  stdin?: boolean | undefined;
  /** Default true. */
  stdout?: boolean | undefined;
  /** Default true; with a terminal there is one output, `stdout`. */
  stderr?: boolean | undefined;
  /** The command gets a terminal. */
  tty?: boolean | undefined;
}

export interface AttachRequest extends ContainerAddress, WantedStreams {
  /** Ends the stream whenever it aborts, and with its reason. */
  signal?: AbortSignal | undefined;
  /** How often a sign of life is sent, for what stands in between and forgets idle connections. Default 15 s. */
  pingMs?: number | undefined;
}

export interface ExecRequest extends AttachRequest {
  /** The program and its arguments; no shell reads it. */
  command: readonly string[];
}

/** A command in a container, or a container that was attached to. */
export interface CommandStream extends AsyncDisposable {
  /** What carries it: `v5.channel.k8s.io over WebSocket`. */
  readonly protocol: string;
  /** Ending it ends the command's input. Undefined where it was not wanted, as the others. */
  readonly stdin: Writable | undefined;
  /**
   * Ends with the connection too, whole or not: whether it is whole {@link exit} tells. Must be read, or `resume()`d: what nobody
   * reads holds up the rest, {@link exit} included.
   */
  readonly stdout: Readable | undefined;
  readonly stderr: Readable | undefined;
  /** Tells the command's terminal how large it is. */
  resize(size: TerminalSize): void;
  /**
   * Resolves with the exit code. Rejects with a `ClientError`: `ERR_COMMAND` where the command could not be run, or not to its end,
   * with what the server said; `ERR_STREAM_LOST` where the connection ended first; with the signal's reason where that aborted.
   */
  readonly exit: Promise<number>;
  /** Lets go of it. What becomes of the command is its node's business: most end it. */
  close(): void;
}

/** The channels of a command over one connection, whatever that is. */
export interface CommandChannels {
  readonly stdin: Writable | undefined;
  readonly stdout: Readable | undefined;
  readonly stderr: Readable | undefined;
  /** What tells how it ended. */
  readonly error: Readable;
  readonly resize: Writable | undefined;
  /** Resolves when the connection has ended. */
  readonly gone: Promise<void>;
  ping(): void;
  /** Ends the connection, after what has been written. */
  finish(): void;
}

/** {@link WantedStreams} with nothing left open. */
export type StreamPlan = Record<'stdin' | 'stdout' | 'stderr' | 'tty', boolean>;

export function planStreams({ stdin = false, stdout = true, stderr = true, tty = false }: WantedStreams): StreamPlan {
  return { stdin, stdout, stderr: stderr && !tty, tty };
}
