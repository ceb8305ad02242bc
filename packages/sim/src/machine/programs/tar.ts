import { withoutTrailing } from '@asterism/machinery';
import type { Sink, Source } from '../byte-stream.ts';
import { FileError, type FileNode } from '../file-system.ts';
import { openSink, openSource } from '../open-file.ts';
import { readPaxRecords, readTarHeader, TAR_BLOCK, tarHeader, type TarMember, tarPadding } from '../tar-format.ts';
import { type Program, type Task, UsageError } from '../task.ts';
import { formatDate } from './format-date.ts';

const MAX_HEADER = 1024 * 1024;

interface TarCall {
  mode: 'c' | 'x' | 't';
  file: string;
  directory: string;
  verbose: boolean;
  toOutput: boolean;
  strip: number;
  names: readonly { name: string; directory: string }[];
}

/** `tar` with `c`, `x` and `t`, on files and streams; no compression. */
export const TAR_PROGRAMS: Readonly<Record<string, Program>> = {
  tar: async (task, args) => {
    const call = readCall(task, args);
    if (call.mode === 'c') return create(task, call);
    const source = call.file === '-' ? task.streams.stdin : openSource(task, task.path(call.file));
    await new Archive(task, source, call).readAll();
    return 0;
  },
};

function readCall(task: Task, args: readonly string[]): TarCall {
  const call = {
    mode: undefined as TarCall['mode'] | undefined,
    file: '-',
    directory: task.directory,
    verbose: false,
    toOutput: false,
    strip: 0,
  };
  const names: { name: string; directory: string }[] = [];
  const rest = [...args];
  let [first, literal] = [true, false];
  for (let arg = rest.shift(); arg !== undefined; arg = rest.shift(), first = false) {
    if (!literal && arg === '--') literal = true;
    else if (!literal && arg.startsWith('--')) {
      const [name, value] = arg.slice(2).split(/=(.*)/s, 2);
      if (name === 'strip-components') call.strip = Number(value ?? rest.shift());
      else if (name === 'directory') call.directory = task.path(value ?? rest.shift() ?? '');
      else if (name === 'file') call.file = value ?? rest.shift() ?? '-';
    } else if (!literal && (first || /^-./.test(arg))) {
      for (const letter of arg.replace(/^-/, '')) {
        if (letter === 'c' || letter === 'x' || letter === 't') call.mode = letter;
        else if (letter === 'f') call.file = rest.shift() ?? '-';
        else if (letter === 'C') call.directory = task.path(rest.shift() ?? '');
        else if (letter === 'v') call.verbose = true;
        else if (letter === 'O') call.toOutput = true;
        else if (letter === 'z' || letter === 'j' || letter === 'J')
          throw new UsageError('compression is not supported');
        else if (!'mpoPkhS'.includes(letter)) throw new UsageError(`invalid option -- '${letter}'`);
      }
    } else {
      names.push({ name: arg, directory: call.directory });
    }
  }
  if (!call.mode) throw new UsageError('must specify one of -c, -x, -t');
  return { ...call, mode: call.mode, names };
}

async function create(task: Task, call: TarCall): Promise<number> {
  if (call.names.length === 0) throw new UsageError('empty archive');
  const sink = call.file === '-' ? task.streams.stdout : openSink(task, task.path(call.file));
  let code = 0;
  let told = false;
  for (const { name, directory } of call.names) {
    const path = name.startsWith('/') ? name : `${directory}/${name}`;
    if (name.startsWith('/') && !told) {
      told = true;
      await task.complain("removing leading '/' from member names");
    }
    try {
      const member = withoutTrailing(name.replace(/^\/+/, ''), '/');
      await pack(task, sink, task.path(path), member === '' ? '.' : member, call.verbose);
    } catch (error) {
      if (!(error instanceof FileError)) throw error;
      await task.complain(`${name}: ${error.message}`);
      code = 1;
    }
  }
  await task.write(new Uint8Array(2 * TAR_BLOCK), sink);
  if (code !== 0) await task.complain('error exit delayed from previous errors');
  return code;
}

async function pack(task: Task, sink: Sink, path: string, name: string, verbose: boolean): Promise<void> {
  const node: FileNode = task.machine.files.get(path, false);
  if (node.kind === 'device') return;
  const kind = node.kind;
  const size = node.kind === 'file' ? node.content.size : 0;
  const shown = kind === 'directory' ? `${name}/` : name;
  const target = node.kind === 'link' ? node.target : '';
  if (verbose) await task.write(`${shown}\n`, sink === task.streams.stdout ? task.streams.stderr : task.streams.stdout);
  await task.write(tarHeader({ name: shown, kind, mode: node.mode, size, modified: node.modified, target }), sink);
  if (node.kind === 'directory') {
    for (const child of node.entries.keys().toArray())
      await pack(task, sink, `${path === '/' ? '' : path}/${child}`, `${name}/${child}`, verbose);
  } else if (node.kind === 'file') {
    // as long as its header says, whatever is written to it meanwhile
    for (let at = 0; at < size; ) {
      const chunk = node.content.read(at, Math.min(size - at, 64 * 1024));
      if (chunk.length === 0) throw new UsageError(`${path}: file changed as we read it`);
      at += chunk.length;
      await task.write(chunk, sink);
    }
    await task.write(tarPadding(size), sink);
  }
}

/** An archive that is read from front to end. */
class Archive {
  readonly #task: Task;
  readonly #source: Source;
  readonly #call: TarCall;

  constructor(task: Task, source: Source, call: TarCall) {
    this.#task = task;
    this.#source = source;
    this.#call = call;
  }

  async readAll(): Promise<void> {
    let changes = new Map<string, string>();
    const times: (() => void)[] = [];
    for (;;) {
      const block = await this.#exactly(TAR_BLOCK, true);
      const header = block ? this.#header(block) : undefined;
      if (!header) break;
      const { member, type } = header;
      if (type === 'x' || type === 'L' || type === 'K') {
        if (member.size > MAX_HEADER) throw new UsageError('header is too long');
        const body =
          (await this.#exactly(member.size + tarPadding(member.size).length))?.subarray(0, member.size) ??
          Buffer.alloc(0);
        const text = body.toString().replace(/\0.*$/s, '');
        const found = type === 'x' ? readPaxRecords(body) : new Map([[type === 'L' ? 'path' : 'linkpath', text]]);
        changes = new Map([...changes, ...found]);
        continue;
      }
      if (type === 'g') await this.#pass(member.size, undefined);
      else await this.#member(changed(member, changes), times);
      await this.#pass(tarPadding(changed(member, changes).size).length, undefined);
      changes = new Map();
    }
    for (const setTime of times.toReversed()) setTime();
    // what follows the end is read and forgotten, so that the writer is not cut off
    for (let rest = await this.#task.read(this.#source); rest; ) rest = await this.#task.read(this.#source);
  }

  #header(block: Buffer): ReturnType<typeof readTarHeader> {
    try {
      return readTarHeader(block);
    } catch (error) {
      throw new UsageError((error as Error).message);
    }
  }

  async #member(member: TarMember, times: (() => void)[]): Promise<void> {
    const call = this.#call;
    const plain = withoutTrailing(member.name, '/');
    const wanted =
      call.names.length === 0 ||
      call.names.some(({ name }) => `${plain}/`.startsWith(`${withoutTrailing(name, '/')}/`));
    if (!wanted) return this.#pass(member.size, undefined);
    if (call.mode === 't') {
      await this.#task.write(call.verbose ? longLine(member) : `${member.name}\n`);
      return this.#pass(member.size, undefined);
    }
    if (call.verbose)
      await this.#task.write(`${member.name}\n`, call.toOutput ? this.#task.streams.stderr : this.#task.streams.stdout);
    if (call.toOutput) return this.#pass(member.size, member.kind === 'file' ? this.#task.streams.stdout : undefined);
    await this.#extract(member, plain, times);
  }

  async #extract(member: TarMember, plain: string, times: (() => void)[]): Promise<void> {
    const { files } = this.#task.machine;
    const steps = plain
      .split('/')
      .filter((step) => step !== '' && step !== '.')
      .slice(this.#call.strip);
    if (steps.includes('..')) throw new UsageError(`name with '..' skipped: '${member.name}'`);
    const path = this.#task.path(`${this.#call.directory}/${steps.join('/')}`);
    if (path === '/' || steps.length === 0) return this.#pass(member.size, undefined);
    files.makeDirectory(path.replace(/\/[^/]*$/, '') || '/', { parents: true });
    const before = files.find(path, false);
    if (member.kind === 'directory') {
      if (before?.kind !== 'directory') files.makeDirectory(path, { mode: member.mode });
    } else {
      if (before && before.kind !== 'directory' && before.kind !== 'device') files.remove(path);
      if (member.kind === 'link') files.makeLink(member.target, path);
      else if (member.kind === 'hardlink')
        files.makeHardLink(this.#task.path(`${this.#call.directory}/${member.target}`), path);
      else if (member.kind === 'file') await this.#pass(member.size, openSink(this.#task, path, { mode: member.mode }));
      else await this.#pass(member.size, undefined);
    }
    times.push(() => {
      const node = files.find(path, false);
      if (node && node.kind !== 'link') node.modified = member.modified;
    });
  }

  /** Passes on so many bytes, or forgets them. */
  async #pass(size: number, sink: Sink | undefined): Promise<void> {
    for (let left = size; left > 0; ) {
      const chunk = await this.#task.read(this.#source);
      if (!chunk) throw new UsageError('short read');
      const part = chunk.subarray(0, left);
      if (part.length < chunk.length) this.#source.unread(chunk.subarray(part.length));
      left -= part.length;
      if (sink) await this.#task.write(part, sink);
    }
  }

  async #exactly(size: number, mayEnd = false): Promise<Buffer | undefined> {
    const parts: Uint8Array[] = [];
    for (let left = size; left > 0; ) {
      const chunk = await this.#task.read(this.#source);
      if (!chunk && mayEnd && left === size) return undefined;
      if (!chunk) throw new UsageError('short read');
      const part = chunk.subarray(0, left);
      if (part.length < chunk.length) this.#source.unread(chunk.subarray(part.length));
      left -= part.length;
      parts.push(part);
    }
    return Buffer.concat(parts);
  }
}

function changed(member: TarMember, changes: ReadonlyMap<string, string>): TarMember {
  const size = changes.get('size');
  const modified = changes.get('mtime');
  return {
    ...member,
    name: changes.get('path') ?? member.name,
    target: changes.get('linkpath') ?? member.target,
    size: size === undefined ? member.size : Number(size),
    modified: modified === undefined ? member.modified : Number(modified) * 1000,
  };
}

function longLine(member: TarMember): string {
  const kind = { directory: 'd', link: 'l', file: '-', hardlink: 'h', other: '?' }[member.kind];
  const bits = Array.from('rwxrwxrwx')
    .map((letter, index) => ((member.mode >> (8 - index)) & 1 ? letter : '-'))
    .join('');
  return `${kind}${bits} root/root ${String(member.size).padStart(9)} ${formatDate('%F %T', member.modified)} ${member.name}\n`;
}
