import { withoutTrailing } from '@asterism/machinery';
import { nullSink, type Sink, type Source } from '../byte-stream.ts';
import { absolutePath } from '../file-system.ts';
import { openSink, openSource } from '../open-file.ts';
import { checkMemory, type Program, type Task, UsageError } from '../task.ts';
import { forEachName } from './options.ts';

const BLOCK = 512;

interface TarCall {
  mode: string;
  file: string;
  directory: string;
  names: string[];
}

/** `tar` with `c` and `x`, as `kubectl cp` calls it: ustar archives with pax headers, without links and compression. */
export const tar: Program = async (task, args) => {
  const call = readCall(task, args);
  const file = call.file === '-' ? undefined : task.path(call.file);
  if (call.mode === 'c') return create(task, call, file === undefined ? task.streams.stdout : openSink(task, file));
  return extract(task, call, file === undefined ? task.streams.stdin : openSource(task, file));
};

function readCall(task: Task, args: readonly string[]): TarCall {
  const call: TarCall = { mode: '', file: '-', directory: task.directory, names: [] };
  const rest = args.filter((arg) => !arg.startsWith('--'));
  const bundle = `-${(rest.shift() ?? '').replace(/^-/, '')}`;
  for (let arg: string | undefined = bundle; arg !== undefined; arg = rest.shift()) {
    if (!/^-./.test(arg)) call.names.push(arg);
    else {
      for (const letter of arg.slice(1)) {
        if ('cx'.includes(letter)) call.mode = letter;
        else if (letter === 'f') call.file = rest.shift() ?? '-';
        else if (letter === 'C') call.directory = task.path(rest.shift() ?? '');
        else if (!'mpo'.includes(letter)) throw new UsageError(`invalid option -- '${letter}'`);
      }
    }
  }
  if (call.mode === '') throw new UsageError('must specify one of -c, -x');
  return call;
}

async function create(task: Task, { directory, names }: TarCall, sink: Sink): Promise<number> {
  if (names.some((name) => name.startsWith('/'))) await task.complain("removing leading '/' from member names");
  const code = await forEachName(task, names, (name) =>
    pack(task, sink, absolutePath(directory, name), withoutTrailing(name.replace(/^\/+/, ''), '/') || '.'),
  );
  await task.write(new Uint8Array(2 * BLOCK), sink);
  return code;
}

async function pack(task: Task, sink: Sink, path: string, name: string): Promise<void> {
  const node = task.machine.files.get(path);
  if (node.kind === 'device') return;
  const [size, directory] = node.kind === 'file' ? [node.size, false] : [0, true];
  const shown = directory ? `${name}/` : name;
  if (Buffer.byteLength(shown) > 100) await task.write(paxHeader('path', shown), sink);
  await task.write(
    header(shown, { type: directory ? '5' : '0', mode: node.mode, size, modified: node.modified }),
    sink,
  );
  if (node.kind === 'directory') {
    for (const child of node.entries.keys()) await pack(task, sink, absolutePath(path, child), `${name}/${child}`);
    return;
  }
  await pass(task, openSource(task, path), size, sink);
  await task.write(new Uint8Array(paddingOf(size)), sink);
}

function paddingOf(size: number): number {
  return (BLOCK - (size % BLOCK)) % BLOCK;
}

function header(
  name: string,
  { type, mode, size, modified }: { type: string; mode: number; size: number; modified: number },
): Buffer {
  const block = Buffer.alloc(BLOCK);
  const octal = (value: number, at: number, length: number): unknown =>
    block.write(value.toString(8).padStart(length - 1, '0'), at);
  block.write(name, 0, 100);
  octal(mode & 0o7777, 100, 8);
  octal(0, 108, 8);
  octal(0, 116, 8);
  octal(size, 124, 12);
  octal(Math.floor(modified / 1000), 136, 12);
  block.write(`        ${type}`, 148);
  block.write('ustar\x0000root', 257);
  block.write('root', 297);
  octal(sumOf(block), 148, 7);
  return block;
}

function paxHeader(key: string, value: string): Buffer {
  const record = ` ${key}=${value}\n`;
  const bytes = Buffer.byteLength(record);
  const digits = String(bytes + String(bytes + 3).length).length;
  const body = Buffer.from(`${bytes + digits}${record}`);
  const start = header('PaxHeader', { type: 'x', mode: 0o644, size: body.length, modified: 0 });
  return Buffer.concat([start, body, Buffer.alloc(paddingOf(body.length))]);
}

/** The checksum of a header, whose own field counts as blanks. */
function sumOf(block: Buffer): number {
  return block.reduce((sum, byte, index) => sum + (index >= 148 && index < 156 ? 32 : byte), 0);
}

async function extract(task: Task, { directory }: TarCall, source: Source): Promise<number> {
  let code = 0;
  let pax: ReadonlyMap<string, string> = new Map();
  for (let block = await take(task, source, BLOCK); block.some((byte) => byte !== 0); ) {
    const member = memberOf(block, pax);
    pax = new Map();
    if (/[xg]/.test(member.type)) {
      const records = (await take(task, source, member.size)).toString().matchAll(/^\d+ (path|size)=(.*)$/gm);
      pax = new Map(Array.from(records, ([, key = '', value = '']) => [key, value]));
    } else {
      code ||= await unpack(task, absolutePath(directory, member.name.replace(/^\/+/, '')), source, member);
    }
    await pass(task, source, paddingOf(member.size), nullSink);
    block = await take(task, source, BLOCK);
  }
  await task.copy(source, nullSink);
  return code;
}

interface Member {
  name: string;
  type: string;
  mode: number;
  size: number;
}

/** Reads a header. The records of a pax header before it take precedence. */
function memberOf(block: Buffer, pax: ReadonlyMap<string, string>): Member {
  const text = (from: number, length: number): string =>
    /^[^\0]*/.exec(block.toString('utf8', from, from + length))?.[0] ?? '';
  const octal = (from: number, length: number): number => Number.parseInt(text(from, length), 8);
  if (octal(148, 8) !== sumOf(block)) throw new UsageError('invalid tar header checksum');
  const prefix = text(345, 155);
  const name = pax.get('path') ?? (prefix === '' ? text(0, 100) : `${prefix}/${text(0, 100)}`);
  return { name, type: text(156, 1) || '0', mode: octal(100, 8), size: Number(pax.get('size') ?? octal(124, 12)) };
}

/** Creates the file or directory of a member: the exit code. */
async function unpack(task: Task, path: string, source: Source, { name, type, mode, size }: Member): Promise<number> {
  const { files } = task.machine;
  if (type === '5' || name.endsWith('/')) {
    files.makeDirectory(path, { parents: true, mode });
  } else if (type === '0') {
    files.makeDirectory(absolutePath(path, '..'), { parents: true });
    await pass(task, source, size, openSink(task, path, { mode }));
  } else {
    await task.complain(`${name}: only files and directories are supported`);
    await pass(task, source, size, nullSink);
    return 1;
  }
  return 0;
}

async function take(task: Task, source: Source, size: number): Promise<Buffer> {
  checkMemory(size);
  const parts: Uint8Array[] = [];
  await pass(task, source, size, { ...nullSink, put: (chunk) => parts.push(chunk) });
  return Buffer.concat(parts);
}

/** Copies so many bytes. */
async function pass(task: Task, source: Source, size: number, sink: Sink): Promise<void> {
  for (let left = size; left > 0; ) {
    const chunk = await task.read(source);
    if (!chunk) throw new UsageError('short read');
    const part = chunk.subarray(0, left);
    if (part.length < chunk.length) source.unread(chunk.subarray(part.length));
    left -= part.length;
    await task.write(part, sink);
  }
}
