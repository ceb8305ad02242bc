import { Notice } from './byte-stream.ts';

interface NodeBase {
  mode: number;
  /** Milliseconds since the epoch. */
  modified: number;
}

export interface DirectoryNode extends NodeBase {
  readonly kind: 'directory';
  readonly entries: Map<string, FileNode>;
  readOnly: boolean;
}

/** The first `size` bytes of `bytes` are the content. They do not change until the file is emptied, which replaces `bytes`. */
export interface RegularNode extends NodeBase {
  readonly kind: 'file';
  bytes: Uint8Array;
  size: number;
  readOnly: boolean;
  /** Fires when the file changes. */
  readonly changed: Notice;
}

export type Device = 'null' | 'zero' | 'random' | 'stdin' | 'stdout' | 'stderr' | 'tty';

export interface DeviceNode extends NodeBase {
  readonly kind: 'device';
  readonly device: Device;
}

export type FileNode = DirectoryNode | RegularNode | DeviceNode;

/** An error of the file system, in the words of `strerror`. */
export class FileError extends Error {
  override readonly name = 'FileError';
  readonly path: string;

  constructor(path: string, message: string) {
    super(message);
    this.path = path;
  }
}

export const NO_SUCH_FILE = 'No such file or directory';
const READ_ONLY = 'Read-only file system';

/** An absolute path without `.`, `..` and empty steps. */
export function absolutePath(directory: string, path: string): string {
  const steps: string[] = [];
  for (const step of (path.startsWith('/') ? path : `${directory}/${path}`).split('/')) {
    if (step === '..') steps.pop();
    else if (step !== '' && step !== '.') steps.push(step);
  }
  return `/${steps.join('/')}`;
}

export function nameOf(path: string): string {
  return path.replace(/^.*\//, '');
}

/** A file system in memory, without links. All paths are absolute. Its methods throw {@link FileError}. */
export class FileSystem {
  readonly root: DirectoryNode;
  readonly #now: () => number;
  readonly #limit: number;
  #used = 0;

  /** @param limit bytes in all files together */
  constructor(now: () => number, limit: number) {
    this.#now = now;
    this.#limit = limit;
    this.root = createSharedNode('directory', now());
    this.root.mode = 0o755;
  }

  /** Bytes in all files together. */
  get used(): number {
    return this.#used;
  }

  find(path: string): FileNode | undefined {
    let node: FileNode | undefined = this.root;
    for (const step of path.split('/')) {
      if (step !== '') node = node?.kind === 'directory' ? node.entries.get(step) : undefined;
    }
    return node;
  }

  get(path: string): FileNode {
    const node = this.find(path);
    if (!node) throw new FileError(path, NO_SUCH_FILE);
    return node;
  }

  directory(path: string): DirectoryNode {
    const node = this.get(path);
    if (node.kind !== 'directory') throw new FileError(path, 'Not a directory');
    return node;
  }

  makeDirectory(path: string, options: { parents?: boolean; mode?: number } = {}): DirectoryNode {
    const before = this.find(path);
    if (before?.kind === 'directory' && options.parents) return before;
    if (before) throw new FileError(path, 'File exists');
    if (options.parents) this.makeDirectory(absolutePath(path, '..'), { parents: true });
    const node = { ...createSharedNode('directory', this.#now()), mode: options.mode ?? 0o755 };
    this.#put(path, node);
    return node;
  }

  /** Returns the file to write to. Creates it if it is missing, and empties it unless `append` is set. */
  openToWrite(path: string, options: { append?: boolean; mode?: number } = {}): RegularNode | DeviceNode {
    const node = this.find(path);
    if (!node) {
      const file = { ...createSharedNode('file', this.#now()), mode: options.mode ?? 0o644 };
      this.#put(path, file);
      return file;
    }
    if (node.kind === 'device') return node;
    if (node.kind === 'directory') throw new FileError(path, 'Is a directory');
    if (node.readOnly) throw new FileError(path, READ_ONLY);
    if (options.append) return node;
    this.#used -= node.size;
    node.size = 0;
    node.bytes = new Uint8Array();
    this.#touch(node);
    return node;
  }

  /** Copies `data` to the end of the file. */
  append(node: RegularNode, data: Uint8Array): void {
    if (this.#used + data.length > this.#limit) throw new FileError('write error', 'No space left on device');
    const size = node.size + data.length;
    if (size > node.bytes.length) {
      const bytes = new Uint8Array(Math.max(size, Math.min(2 * node.size, this.#limit)));
      bytes.set(node.bytes.subarray(0, node.size));
      node.bytes = bytes;
    }
    node.bytes.set(data, node.size);
    node.size = size;
    this.#used += data.length;
    this.#touch(node);
  }

  makeDevice(device: Device, path: string): void {
    this.#put(path, { kind: 'device', device, mode: 0o666, modified: this.#now() });
  }

  /** Puts a node that other file systems share at the path. Creates the directory above it if that is missing. */
  mount(path: string, node: DirectoryNode | RegularNode): void {
    this.makeDirectory(absolutePath(path, '..'), { parents: true });
    this.#put(path, node);
  }

  /** Removes a file, or a directory with everything in it. */
  remove(path: string): void {
    this.#used -= bytesOf(this.#take(path));
  }

  move(from: string, to: string): void {
    if (to.startsWith(`${from}/`)) throw new FileError(from, 'Invalid argument');
    if (to === from) return;
    const target = this.find(to);
    if (target?.kind === 'directory') throw new FileError(to, 'Is a directory');
    if (this.directory(absolutePath(to, '..')).readOnly) throw new FileError(to, READ_ONLY);
    const node = this.#take(from);
    if (target) this.remove(to);
    this.#put(to, node);
  }

  #take(path: string): FileNode {
    const node = this.get(path);
    const parent = this.directory(absolutePath(path, '..'));
    if (node === this.root) throw new FileError(path, 'Device or resource busy');
    if (parent.readOnly || hasReadOnly(node)) throw new FileError(path, READ_ONLY);
    parent.entries.delete(nameOf(path));
    parent.modified = this.#now();
    return node;
  }

  #put(path: string, node: FileNode): void {
    const parent = this.directory(absolutePath(path, '..'));
    if (parent.readOnly) throw new FileError(path, READ_ONLY);
    parent.entries.set(nameOf(path), node);
    parent.modified = this.#now();
  }

  #touch(node: RegularNode): void {
    node.modified = this.#now();
    node.changed.fire();
  }
}

export function createSharedNode(kind: 'directory', now: number): DirectoryNode;
export function createSharedNode(kind: 'file', now: number): RegularNode;
/** A directory or an empty file that several file systems can {@link FileSystem.mount}. */
export function createSharedNode(kind: 'directory' | 'file', now: number): DirectoryNode | RegularNode {
  const base = { modified: now, readOnly: false };
  if (kind === 'directory') return { ...base, kind, entries: new Map(), mode: 0o777 };
  return { ...base, kind, bytes: new Uint8Array(), size: 0, changed: new Notice(), mode: 0o666 };
}

function hasReadOnly(node: FileNode): boolean {
  if (node.kind === 'directory') return node.readOnly || node.entries.values().some(hasReadOnly);
  return node.kind === 'file' && node.readOnly;
}

function bytesOf(node: FileNode): number {
  if (node.kind === 'directory') return node.entries.values().reduce((sum, each) => sum + bytesOf(each), 0);
  return node.kind === 'file' ? node.size : 0;
}
