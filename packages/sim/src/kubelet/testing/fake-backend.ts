import { Duplex, PassThrough } from 'node:stream';
import { badRequest } from '@asterism/machinery';
import type {
  ContainerRef,
  ExecOptions,
  LogOptions,
  NodeBackend,
  PodRef,
  Process,
} from '../../machine/container-runtime.ts';

/** A process that the test plays. */
export interface PlayedProcess {
  ref: ContainerRef;
  options: Partial<ExecOptions>;
  stdin: PassThrough;
  stdout: PassThrough;
  stderr: PassThrough;
  sizes: { columns: number; rows: number }[];
  killed: Promise<'TERM' | 'KILL'>;
  /** Ends its output, then itself. */
  exit(code: number): void;
}

/** A backend whose processes a test plays, with one port, 80, behind which is an echo. */
export class FakeBackend implements NodeBackend {
  /** Called for each process of exec or attach. */
  play: (process: PlayedProcess) => void = (process) => process.exit(0);
  /** What `logs` yields. */
  log: (options: LogOptions, signal: AbortSignal) => AsyncIterable<Uint8Array> = async function* () {};
  /** What is asked for and refused. */
  refusal: Error | undefined;
  readonly dialed: Duplex[] = [];

  async exec(ref: ContainerRef, options: ExecOptions): Promise<Process> {
    if (this.refusal !== undefined) throw this.refusal;
    return this.#begin(ref, options);
  }

  async attach(ref: ContainerRef, options: { stdin: boolean; tty: boolean }): Promise<Process> {
    if (this.refusal !== undefined) throw this.refusal;
    return this.#begin(ref, options);
  }

  logs(_ref: ContainerRef, options: LogOptions, signal: AbortSignal): AsyncIterable<Uint8Array> {
    return this.log(options, signal);
  }

  async dial({ pod }: PodRef, port: number): Promise<Duplex> {
    if (port !== 80) throw badRequest(`dial ${pod}:${port}: connect: connection refused`);
    const echo = new PassThrough();
    this.dialed.push(echo);
    return echo;
  }

  stats(): ReturnType<NodeBackend['stats']> {
    return [{ ref: { namespace: 'default', pod: 'web', container: 'app' }, cpuNanoCores: 1000, memoryBytes: 2048 }];
  }

  #begin(ref: ContainerRef, options: Partial<ExecOptions>): Process {
    const exit = Promise.withResolvers<{ code: number }>();
    const killed = Promise.withResolvers<'TERM' | 'KILL'>();
    const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
    const sizes: { columns: number; rows: number }[] = [];
    const played: PlayedProcess = {
      ref,
      options,
      stdin,
      stdout,
      stderr,
      sizes,
      killed: killed.promise,
      exit: (code) => {
        stdout.end();
        stderr.end();
        exit.resolve({ code });
      },
    };
    queueMicrotask(() => this.play(played));
    return {
      stdin,
      stdout,
      stderr,
      resize: (size) => void sizes.push(size),
      exit: exit.promise,
      kill: (signal) => {
        killed.resolve(signal);
        played.exit(137);
      },
    };
  }
}
