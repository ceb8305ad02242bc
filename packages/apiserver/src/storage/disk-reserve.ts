import { closeSync, ftruncateSync, openSync, rmSync, statfsSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileSize } from './file-size.ts';
import { StorageError } from './storage-error.ts';

const MIB = 1024 * 1024;
/** A 64th of the file system, within these. */
const LEAST_BYTES = MIB;
const MOST_BYTES = 8 * MIB;
const STEP_BYTES = MIB / 2;
const LOOK_EVERY_MS = 5_000;

export interface DiskReserveOptions {
  /** The database. The reserve is a file next to it. */
  file: string;
  /** Called when space runs out and when there is some again. */
  onChange: (full: StorageError | undefined) => void;
  /** How often to look at the file system. Default 5 s. */
  lookEveryMs?: number | undefined;
  /** Bytes of the file system that holds `folder`. For tests. */
  look?: ((folder: string) => FileSystemSpace) | undefined;
}

/** In bytes. */
export interface FileSystemSpace {
  total: number;
  free: number;
}

/**
 * Space that is kept for essential changes: a file of zeros next to the database, which is cut piece by piece when the disk is full.
 *
 * R1. While {@link full} is set, ordinary changes are refused: they must not use what was released.
 * R2. It is set when less is free than the reserve is large, and after every write that found no space.
 * R3. It ends when the reserve is whole again and as much is free besides.
 */
export class DiskReserve implements Disposable {
  readonly #options: DiskReserveOptions;
  readonly #path: string;
  readonly #timer: NodeJS.Timeout;
  /** How large the reserve should be. */
  #bytes = LEAST_BYTES;
  /** How large it is. */
  #kept: number;
  #full: StorageError | undefined;
  /** Looks to come before a write that found no space is forgotten: the file system may not count what refused it, as a quota. */
  #looksToWait = 0;

  constructor(options: DiskReserveOptions) {
    this.#options = options;
    this.#path = reserveFile(options.file);
    this.#kept = fileSize(this.#path);
    this.look();
    this.#timer = setInterval(() => this.look(), options.lookEveryMs ?? LOOK_EVERY_MS).unref();
  }

  /** Why ordinary changes are refused; undefined while there is space. */
  get full(): StorageError | undefined {
    return this.#full;
  }

  /** So much has to be free for ordinary changes. */
  get bytes(): number {
    return this.#bytes;
  }

  /** How much of the reserve is left, in bytes. */
  get kept(): number {
    return this.#kept;
  }

  /** A write found no space. */
  refused(error: StorageError): void {
    this.#looksToWait = 2;
    this.#set(error);
  }

  /** Makes room for an essential change. False if nothing is left. */
  release(): boolean {
    if (this.#kept === 0) return false;
    this.#resize(Math.max(0, this.#kept - STEP_BYTES));
    return true;
  }

  /** Looks whether there is space. */
  look(): void {
    const { look = lookAt } = this.#options;
    try {
      this.#found(look(dirname(this.#path)));
    } catch {
      // A file system that cannot be asked refuses the writes themselves.
    }
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }

  #found({ total, free }: FileSystemSpace): void {
    this.#bytes = Math.min(MOST_BYTES, Math.max(LEAST_BYTES, Math.floor(total / 64)));
    const missing = Math.max(0, this.#bytes - this.#kept);
    // Once it is full, a little more is wanted, so that it does not come and go.
    const wanted = missing + this.#bytes * (this.#full ? 1.25 : 1);
    if (free < wanted) return this.#set(noSpace(this.#options.file, free));
    if (missing > 0 && !this.#fill()) return this.#set(noSpace(this.#options.file, free));
    if (this.#looksToWait > 0) this.#looksToWait--;
    else this.#set(undefined);
  }

  #set(full: StorageError | undefined): void {
    const changed = (this.#full === undefined) !== (full === undefined);
    this.#full = full;
    if (changed) this.#options.onChange(full);
  }

  /** Zeros that are written take space, which a file that is only made longer does not. */
  #fill(): boolean {
    const zeros = Buffer.alloc(STEP_BYTES);
    let handle: number | undefined;
    try {
      handle = openSync(this.#path, 'a', 0o600);
      while (this.#kept < this.#bytes) {
        this.#kept += writeSync(handle, zeros, 0, Math.min(STEP_BYTES, this.#bytes - this.#kept));
      }
      return true;
    } catch {
      return false;
    } finally {
      if (handle !== undefined) closeSync(handle);
    }
  }

  #resize(bytes: number): void {
    try {
      const handle = openSync(this.#path, 'r+');
      ftruncateSync(handle, bytes);
      closeSync(handle);
    } catch {
      rmSync(this.#path, { force: true });
      bytes = 0;
    }
    this.#kept = bytes;
  }
}

/** Where the reserve of the database `file` is. */
export function reserveFile(file: string): string {
  return `${file}.reserve`;
}

export function noSpace(file: string, free?: number, cause?: ErrorOptions): StorageError {
  const left = free === undefined ? '' : ` (${Math.floor(free / 1024)} KiB left on its disk)`;
  return new StorageError('FULL', `no space left to write ${file}${left}: free some, then try again`, cause);
}

function lookAt(folder: string): FileSystemSpace {
  const { bsize, blocks, bavail } = statfsSync(folder);
  return { total: blocks * bsize, free: bavail * bsize };
}
