import { FileContent } from './file-content.ts';
import { Notice } from './byte-stream.ts';

interface NodeBase {
  mode: number;
  /** Milliseconds since the epoch. */
  modified: number;
  readonly inode: number;
}

export interface DirectoryNode extends NodeBase {
  readonly kind: 'directory';
  readonly entries: Map<string, FileNode>;
  readOnly: boolean;
}

export interface RegularNode extends NodeBase {
  readonly kind: 'file';
  readonly content: FileContent;
  readOnly: boolean;
  /** Fires when something is written to it. */
  readonly changed: Notice;
}

export interface LinkNode extends NodeBase {
  readonly kind: 'link';
  readonly target: string;
}

export type Device = 'null' | 'zero' | 'random' | 'stdin' | 'stdout' | 'stderr' | 'tty';

export interface DeviceNode extends NodeBase {
  readonly kind: 'device';
  readonly device: Device;
}

export type FileNode = DirectoryNode | RegularNode | LinkNode | DeviceNode;

/** What a call of the file system ends in, in the words of `strerror`. */
export class FileError extends Error {
  override readonly name = 'FileError';
  readonly path: string;

  constructor(path: string, message: string) {
    super(message);
    this.path = path;
  }
}

export const NO_SUCH_FILE = 'No such file or directory';
const NOT_A_DIRECTORY = 'Not a directory';
const IS_A_DIRECTORY = 'Is a directory';
const READ_ONLY = 'Read-only file system';
const MAX_LINKS = 40;

/** Where a path leads: the directory, the name in it, and what stands there, if anything. */
interface Place {
  parent: DirectoryNode;
  name: string;
  node: FileNode | undefined;
}

/** An absolute path without `.`, `..`, and empty steps. */
export function absolutePath(directory: string, path: string): string {
  const steps: string[] = [];
  for (const step of (path.startsWith('/') ? path : `${directory}/${path}`).split('/')) {
    if (step === '..') steps.pop();
    else if (step !== '' && step !== '.') steps.push(step);
  }
  return `/${steps.join('/')}`;
}

/** A file system in memory. All paths are absolute; it throws {@link FileError}. */
export class FileSystem {
  readonly root: DirectoryNode;
  readonly #now: () => number;
  readonly #limit: number;
  #used = 0;
  #inodes = 1;

  /** @param limit bytes that its files may have in all */
  constructor(now: () => number, limit: number) {
    this.#now = now;
    this.#limit = limit;
    this.root = this.#directory(0o755);
  }

  /** Bytes in files. */
  get used(): number {
    return this.#used;
  }

  get limit(): number {
    return this.#limit;
  }

  /** What stands at the path, or nothing. */
  find(path: string, follow = true): FileNode | undefined {
    try {
      return this.#walk(path, follow).node;
    } catch (error) {
      if (error instanceof FileError) return undefined;
      throw error;
    }
  }

  get(path: string, follow = true): FileNode {
    const { node } = this.#walk(path, follow);
    if (!node) throw new FileError(path, NO_SUCH_FILE);
    return node;
  }

  directory(path: string): DirectoryNode {
    const node = this.get(path);
    if (node.kind !== 'directory') throw new FileError(path, NOT_A_DIRECTORY);
    return node;
  }

  makeDirectory(path: string, options: { parents?: boolean; mode?: number } = {}): DirectoryNode {
    if (options.parents) {
      const before = this.find(path);
      if (before?.kind === 'directory') return before;
      const parent = absolutePath(path, '..');
      if (parent !== path) this.makeDirectory(parent, { parents: true });
    }
    const place = this.#walk(path, true);
    if (place.node) throw new FileError(path, 'File exists');
    return this.#put(place, this.#directory(options.mode ?? 0o755), path);
  }

  /** The file to write to: made where there is none, emptied unless it is to be appended to. */
  openToWrite(path: string, options: { append?: boolean; mode?: number } = {}): RegularNode | DeviceNode {
    const place = this.#walk(path, true);
    const { node } = place;
    if (!node) return this.#put(place, this.#file(options.mode ?? 0o644), path);
    if (node.kind === 'device') return node;
    if (node.kind !== 'file') throw new FileError(path, IS_A_DIRECTORY);
    if (node.readOnly) throw new FileError(path, READ_ONLY);
    if (!options.append) this.#clear(node);
    return node;
  }

  append(node: RegularNode, data: Uint8Array): void {
    if (this.#used + data.length > this.#limit) throw new FileError('write error', 'No space left on device');
    node.content.append(data);
    this.#used += data.length;
    node.modified = this.#now();
    node.changed.fire();
  }

  makeLink(target: string, path: string): void {
    const place = this.#walk(path, false);
    if (place.node) throw new FileError(path, 'File exists');
    const link: LinkNode = { kind: 'link', target, mode: 0o777, modified: this.#now(), inode: this.#inode() };
    this.#put(place, link, path);
  }

  /** A further name of the same file. */
  makeHardLink(from: string, path: string): void {
    const node = this.get(from, false);
    if (node.kind === 'directory') throw new FileError(path, 'Operation not permitted');
    const place = this.#walk(path, false);
    if (place.node) throw new FileError(path, 'File exists');
    this.#put(place, node, path);
  }

  makeDevice(device: Device, path: string): void {
    this.#put(
      this.#walk(path, false),
      { kind: 'device', device, mode: 0o666, modified: this.#now(), inode: this.#inode() },
      path,
    );
  }

  /** Puts a node that others may hold too in the place of what stands there; its directory is made where it is missing. */
  mount(path: string, node: DirectoryNode | RegularNode): void {
    this.makeDirectory(absolutePath(path, '..'), { parents: true });
    this.#put(this.#walk(path, true), node, path);
  }

  /** Removes a file, or a directory with all that is in it. */
  remove(path: string): void {
    const { parent, name, node } = this.#walk(path, false);
    if (!node) throw new FileError(path, NO_SUCH_FILE);
    if (node === this.root) throw new FileError(path, 'Device or resource busy');
    if (parent.readOnly || hasReadOnly(node)) throw new FileError(path, READ_ONLY);
    this.#used -= bytesOf(node);
    parent.entries.delete(name);
    parent.modified = this.#now();
  }

  move(from: string, to: string): void {
    const source = this.#walk(from, false);
    if (!source.node) throw new FileError(from, NO_SUCH_FILE);
    if (source.parent.readOnly || hasReadOnly(source.node)) throw new FileError(from, READ_ONLY);
    if (to.startsWith(`${from}/`)) throw new FileError(from, 'Invalid argument');
    if (to === from) return;
    const target = this.#walk(to, false);
    if (target.parent.readOnly) throw new FileError(to, READ_ONLY);
    if (target.node?.kind === 'directory') throw new FileError(to, IS_A_DIRECTORY);
    if (target.node) this.remove(to);
    source.parent.entries.delete(source.name);
    target.parent.entries.set(target.name, source.node);
    source.parent.modified = this.#now();
    target.parent.modified = this.#now();
  }

  #walk(path: string, follow: boolean, links = 0): Place {
    if (links > MAX_LINKS) throw new FileError(path, 'Too many levels of symbolic links');
    const steps = path.split('/').filter((step) => step !== '');
    let place: Place = { parent: this.root, name: '', node: this.root };
    let at = '';
    for (const [index, name] of steps.entries()) {
      const { node: parent } = place;
      if (!parent) throw new FileError(path, NO_SUCH_FILE);
      if (parent.kind !== 'directory') throw new FileError(path, NOT_A_DIRECTORY);
      const node = parent.entries.get(name);
      if (node?.kind === 'link' && (follow || index < steps.length - 1)) {
        const rest = steps.slice(index + 1).join('/');
        const target = absolutePath(at === '' ? '/' : at, node.target);
        return this.#walk(absolutePath(target, rest === '' ? '.' : rest), follow, links + 1);
      }
      place = { parent, name, node };
      at += `/${name}`;
    }
    return place;
  }

  #put<N extends FileNode>({ parent, name }: Place, node: N, path: string): N {
    if (parent.readOnly) throw new FileError(path, READ_ONLY);
    parent.entries.set(name, node);
    parent.modified = this.#now();
    return node;
  }

  #clear(node: RegularNode): void {
    this.#used -= node.content.size;
    node.content.clear();
    node.modified = this.#now();
    node.changed.fire();
  }

  #directory(mode: number): DirectoryNode {
    const modified = this.#now();
    return { kind: 'directory', entries: new Map(), mode, modified, readOnly: false, inode: this.#inode() };
  }

  #file(mode: number): RegularNode {
    const [content, changed] = [new FileContent(), new Notice()];
    return { kind: 'file', content, changed, mode, modified: this.#now(), readOnly: false, inode: this.#inode() };
  }

  #inode(): number {
    this.#inodes += 1;
    return this.#inodes;
  }
}

/** A directory, or an empty file, that several file systems can {@link FileSystem.mount}. */
export function createSharedNode(kind: 'directory' | 'file', now: number): DirectoryNode | RegularNode {
  const base = { modified: now, readOnly: false, inode: 0 };
  if (kind === 'directory') return { ...base, kind, entries: new Map(), mode: 0o777 };
  return { ...base, kind, content: new FileContent(), changed: new Notice(), mode: 0o666 };
}

function hasReadOnly(node: FileNode): boolean {
  if (node.kind === 'directory') return node.readOnly || [...node.entries.values()].some(hasReadOnly);
  return node.kind === 'file' && node.readOnly;
}

function bytesOf(node: FileNode): number {
  if (node.kind === 'file') return node.content.size;
  if (node.kind !== 'directory') return 0;
  return [...node.entries.values()].reduce((sum, each) => sum + bytesOf(each), 0);
}
