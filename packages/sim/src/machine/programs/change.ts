import { FileError, type FileNode } from '../file-system.ts';
import { openSink, openSource } from '../open-file.ts';
import { type Program, type Task, UsageError } from '../task.ts';
import { readCount, readOptions } from './options.ts';

/** What makes, changes and removes files. */
export const CHANGE_PROGRAMS: Readonly<Record<string, Program>> = {
  mkdir: (task, args) => {
    const { flags, values, rest } = readOptions(args, 'pm:v', { parents: 'p' });
    const mode = Number.parseInt(values.get('m') ?? '755', 8);
    return each(
      task,
      rest,
      (path) => void task.machine.files.makeDirectory(path, { parents: flags.has('p'), mode }),
      "can't create directory",
    );
  },
  rmdir: (task, args) =>
    each(task, args, (path) => {
      if (task.machine.files.directory(path).entries.size > 0) throw new FileError(path, 'Directory not empty');
      task.machine.files.remove(path);
    }),
  rm: remove,
  mv: (task, args) => transfer(task, args, true),
  cp: (task, args) => transfer(task, args, false),
  touch: (task, args) => {
    const { flags, rest } = readOptions(args, 'cd:t:r:am');
    const { files, clock } = task.machine;
    return each(task, rest, (path) => {
      const node = files.find(path);
      if (node) node.modified = clock.wall().getTime();
      else if (!flags.has('c')) files.openToWrite(path);
    });
  },
  ln: (task, args) => link(task, args),
  chmod: (task, args) => {
    const { rest } = readOptions(
      args.map((arg) => (/^-[rwx]+$/.test(arg) ? `a${arg}` : arg)),
      'Rvf',
    );
    const [mode = '', ...names] = rest;
    return each(task, names, (path) => changeMode(task.machine.files.get(path), mode, args.includes('-R')));
  },
  chown: (task, args) =>
    each(task, readOptions(args, 'Rhvf').rest.slice(1), (path) => void task.machine.files.get(path)),
  chgrp: (task, args) =>
    each(task, readOptions(args, 'Rhvf').rest.slice(1), (path) => void task.machine.files.get(path)),
  mktemp: async (task, args) => {
    const { flags, rest, values } = readOptions(args, 'dp:tqu');
    const random = (): string => Math.random().toString(36).slice(2, 8).padEnd(6, 'x');
    const template = rest[0] ?? `${values.get('p') ?? '/tmp'}/tmp.XXXXXX`;
    const path = task.path(template.replace(/X{6}$/, random()));
    if (flags.has('d')) task.machine.files.makeDirectory(path, { mode: 0o700 });
    else task.machine.files.openToWrite(path, { mode: 0o600 });
    await task.write(`${path}\n`);
    return 0;
  },
  truncate: (task, args) => {
    const { values, rest } = readOptions(args, 's:c');
    const size = readCount(values.get('s') ?? '0');
    return each(task, rest, (path) => {
      const { files } = task.machine;
      const before = files.find(path);
      const kept = before?.kind === 'file' ? copyOf(before, Math.min(size, before.content.size)) : new Uint8Array();
      const node = files.openToWrite(path);
      if (node.kind !== 'file') return;
      files.append(node, kept);
      for (let left = size - kept.length; left > 0; left -= 65536)
        files.append(node, new Uint8Array(Math.min(left, 65536)));
    });
  },
  dd,
};

function copyOf(node: FileNode & { kind: 'file' }, length: number): Uint8Array {
  const parts: Uint8Array[] = [];
  for (let offset = 0; offset < length; ) {
    const part = node.content.read(offset, length - offset);
    parts.push(part);
    offset += part.length;
  }
  return Buffer.concat(parts);
}

/** Does it for each path, and tells of each that fails. */
async function each(
  task: Task,
  names: readonly string[],
  body: (path: string, name: string) => void,
  what = '',
): Promise<number> {
  if (names.length === 0) throw new UsageError('missing operand');
  let code = 0;
  for (const name of names) {
    try {
      body(task.path(name), name);
    } catch (error) {
      if (!(error instanceof FileError)) throw error;
      await task.complain(what === '' ? `${name}: ${error.message}` : `${what} '${name}': ${error.message}`);
      code = 1;
    }
  }
  return code;
}

async function remove(task: Task, args: readonly string[]): Promise<number> {
  const { flags, rest } = readOptions(args, 'rRfiv', { recursive: 'r', force: 'f' });
  const { files } = task.machine;
  if (rest.length === 0) return flags.has('f') ? 0 : 1;
  return each(
    task,
    rest,
    (path) => {
      const node = files.find(path, false);
      if (!node && flags.has('f')) return;
      if (node?.kind === 'directory' && !flags.has('r') && !flags.has('R')) throw new FileError(path, 'is a directory');
      files.remove(path);
    },
    "can't remove",
  );
}

async function link(task: Task, args: readonly string[]): Promise<number> {
  const { flags, rest } = readOptions(args, 'sfnTv');
  const { files } = task.machine;
  const [target, given = target?.replace(/^.*\//, '')] = rest;
  if (target === undefined || given === undefined) throw new UsageError('missing operand');
  const inside = files.find(task.path(given))?.kind === 'directory' && !flags.has('n');
  const path = task.path(inside ? `${given}/${target.replace(/^.*\//, '')}` : given);
  if (flags.has('f') && files.find(path, false)) files.remove(path);
  if (flags.has('s')) files.makeLink(target, path);
  else files.makeHardLink(task.path(target), path);
  return 0;
}

async function transfer(task: Task, args: readonly string[], moving: boolean): Promise<number> {
  const { flags, rest } = readOptions(args, 'rRafpdnvTLHPi', { recursive: 'r', archive: 'a' });
  const names = rest.slice(0, -1);
  const target = rest.at(-1);
  if (target === undefined || names.length === 0) throw new UsageError('missing operand');
  const { files } = task.machine;
  const into = files.find(task.path(target))?.kind === 'directory' && !flags.has('T');
  if (names.length > 1 && !into) throw new UsageError(`target '${target}' is not a directory`);
  let code = 0;
  for (const name of names) {
    const from = task.path(name);
    const to = into ? task.path(`${target}/${from.replace(/^.*\//, '')}`) : task.path(target);
    try {
      const deep = flags.has('r') || flags.has('R') || flags.has('a');
      if (moving) files.move(from, to);
      else await copy(task, from, to, name, { deep, links: flags.has('a') || flags.has('d') || flags.has('P') });
    } catch (error) {
      if (!(error instanceof FileError)) throw error;
      await task.complain(
        error.message === 'omitted'
          ? `omitting directory '${name}'`
          : `can't ${moving ? 'rename' : 'stat'} '${name}': ${error.message}`,
      );
      code = 1;
    }
  }
  return code;
}

async function copy(
  task: Task,
  from: string,
  to: string,
  name: string,
  options: { deep: boolean; links: boolean },
): Promise<void> {
  const { files } = task.machine;
  const node = files.get(from, !options.links);
  if (node.kind === 'link') return files.makeLink(node.target, to);
  if (node.kind === 'directory') {
    if (!options.deep) throw new FileError(name, 'omitted');
    if (`${to}/`.startsWith(`${from}/`)) throw new FileError(name, 'recursion detected, omitting directory');
    files.makeDirectory(to, { parents: true });
    for (const child of node.entries.keys().toArray())
      await copy(task, `${from}/${child}`, `${to}/${child}`, `${name}/${child}`, { ...options, links: true });
    return;
  }
  if (node === files.find(to)) throw new FileError(name, 'is the same file');
  const [source, sink] = [openSource(task, from), openSink(task, to, { mode: node.mode })];
  for (let chunk = await task.read(source); chunk; chunk = await task.read(source)) await task.write(chunk, sink);
}

function changeMode(node: FileNode, mode: string, deep: boolean): void {
  if (/^[0-7]+$/.test(mode)) node.mode = Number.parseInt(mode, 8);
  else for (const clause of mode.split(',')) node.mode = symbolicMode(node.mode, clause);
  if (deep && node.kind === 'directory') for (const child of node.entries.values()) changeMode(child, mode, deep);
}

function symbolicMode(mode: number, clause: string): number {
  const match = /^([ugoa]*)([-+=])([rwxXst]*)$/.exec(clause);
  if (!match) throw new UsageError(`invalid mode '${clause}'`);
  const [, who = '', operator, what = ''] = match;
  const bits = Array.from(what).reduce((sum, letter) => sum | ({ r: 4, w: 2, x: 1, X: 1 }[letter] ?? 0), 0);
  const shifts =
    who === '' || who.includes('a') ? [6, 3, 0] : Array.from(who).map((letter) => ({ u: 6, g: 3 })[letter] ?? 0);
  return shifts.reduce((result, shift) => {
    if (operator === '-') return result & ~(bits << shift);
    return operator === '+' ? result | (bits << shift) : (result & ~(7 << shift)) | (bits << shift);
  }, mode);
}

async function dd(task: Task, args: readonly string[]): Promise<number> {
  const options = new Map(args.map((arg) => arg.split(/=(.*)/s, 2) as [string, string]));
  const size = readCount(options.get('bs') ?? '512');
  const most = options.has('count') ? readCount(options.get('count') ?? '') * size : Infinity;
  const [from, to] = [options.get('if'), options.get('of')];
  const source = from === undefined ? task.streams.stdin : openSource(task, task.path(from));
  const sink = to === undefined ? task.streams.stdout : openSink(task, task.path(to));
  let skip = readCount(options.get('skip') ?? '0') * size;
  let done = 0;
  while (done < most) {
    const whole = await task.read(source);
    if (!whole) break;
    const chunk = whole.subarray(Math.min(skip, whole.length));
    skip -= whole.length - chunk.length;
    const part = chunk.subarray(0, Math.min(chunk.length, most - done));
    if (part.length < chunk.length) source.unread(chunk.subarray(part.length));
    done += part.length;
    if (part.length > 0) await task.write(part, sink);
  }
  const records = `${Math.floor(done / size)}+${done % size === 0 ? 0 : 1}`;
  if (options.get('status') !== 'none') {
    await task.write(`${records} records in\n${records} records out\n${done} bytes copied\n`, task.streams.stderr);
  }
  return 0;
}
