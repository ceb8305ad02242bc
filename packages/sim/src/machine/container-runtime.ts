import type { Duplex, Readable, Writable } from 'node:stream';
import type { DirectoryNode, RegularNode } from './file-system.ts';

/** A pod by its name. */
export interface PodRef {
  namespace: string;
  pod: string;
}

/** One container of a pod. */
export interface ContainerRef extends PodRef {
  container: string;
}

/** One process as its caller sees it. With a tty everything that it writes is on `stdout`. */
export interface Process {
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** The size of the terminal; of no effect without a tty. */
  resize(size: { columns: number; rows: number }): void;
  /** Never rejects. A process that a signal ended has 128 and the signal's number. */
  readonly exit: Promise<{ code: number }>;
  /** For an attached process: lets go of it, and it runs on. */
  kill(signal: 'TERM' | 'KILL'): void;
}

export interface ExecOptions {
  command: readonly string[];
  tty: boolean;
  /** Without it the process reads the end of its input at once. */
  stdin: boolean;
}

/** `PodLogOptions` as far as a kubelet knows them. */
export interface LogOptions {
  follow: boolean;
  /** The log of the run before this one. */
  previous: boolean;
  tailLines?: number;
  limitBytes?: number;
  sinceSeconds?: number;
  /** RFC 3339. */
  sinceTime?: string;
  timestamps: boolean;
  stream?: 'All' | 'Stdout' | 'Stderr';
}

/** What one container uses at this moment. */
export interface ContainerUsage {
  ref: ContainerRef;
  cpuNanoCores: number;
  memoryBytes: number;
}

/** What a kubelet serves of its containers. Rejects with a `StatusError` in a kubelet's words. */
export interface NodeBackend {
  exec(ref: ContainerRef, options: ExecOptions): Promise<Process>;
  attach(ref: ContainerRef, options: { stdin: boolean; tty: boolean }): Promise<Process>;
  logs(ref: ContainerRef, options: LogOptions, signal: AbortSignal): AsyncIterable<Uint8Array>;
  /** A connection to a port that a container listens on; rejects with "connection refused" where nothing does. */
  dial(pod: PodRef, port: number): Promise<Duplex>;
  stats(): readonly ContainerUsage[];
}

/** What a container is made of. */
export interface RuntimeContainer {
  podUid: string;
  image: string;
  /** Empty for the image's own entry point. */
  command: readonly string[];
  env: Readonly<Record<string, string>>;
  workingDir: string;
  tty: boolean;
  stdin: boolean;
  ports: readonly number[];
  /** Mounted ConfigMaps, Secrets and tokens by absolute path, read-only. */
  files: ReadonlyMap<string, Uint8Array>;
  /** What is mounted to be written to as well, and may be mounted in other containers, by absolute path. */
  shared?: ReadonlyMap<string, DirectoryNode | RegularNode>;
  hostname: string;
}

export interface RunningContainer {
  readonly id: string;
  /** Never rejects. `signal` is the one that ended it, if one did. */
  readonly exit: Promise<{ code: number; signal?: 'TERM' | 'KILL' }>;
  signal(name: 'TERM' | 'KILL'): void;
}

/** What runs containers on a node. */
export interface ContainerRuntime extends NodeBackend {
  /** A start of the same ref again keeps the last log as "previous". */
  start(ref: ContainerRef, container: RuntimeContainer): RunningContainer;
  /** Ends what still runs of the pod, and forgets its logs and files. */
  remove(pod: PodRef): void;
}
