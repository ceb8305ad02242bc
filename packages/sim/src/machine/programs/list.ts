import { FileError, type FileNode } from '../file-system.ts';
import type { Program, Task } from '../task.ts';
import { formatDate } from './format-date.ts';
import { readOptions } from './options.ts';

/** What tells about files. */
export const LIST_PROGRAMS: Readonly<Record<string, Program>> = {
  ls,
  find,
  stat,
  du,
  df,
  readlink,
  realpath: readlink,
};

const MAX_DEPTH = 10_000;

/** Bytes of a file, or of the text of a link. */
export function sizeOf(node: FileNode): number {
  if (node.kind === 'file') return node.content.size;
  return node.kind === 'directory' ? 4096 : node.kind === 'link' ? Buffer.byteLength(node.target) : 0;
}

function modeText(node: FileNode): string {
  const kind = { directory: 'd', file: '-', link: 'l', device: 'c' }[node.kind];
  const bits = Array.from('rwxrwxrwx').map((letter, index) => ((node.mode >> (8 - index)) & 1 ? letter : '-'));
  return kind + bits.join('');
}

async function ls(task: Task, args: readonly string[]): Promise<number> {
  const { flags, rest } = readOptions(args, 'laA1RdhnFtrSsi', { all: 'a', recursive: 'R' });
  let code = 0;
  const [files, directories]: [[string, FileNode][], string[]] = [[], []];
  for (const name of rest.length === 0 ? ['.'] : rest) {
    const node = task.machine.files.find(task.path(name), !flags.has('l') && !flags.has('d'));
    const target = node?.kind === 'link' && name.endsWith('/') ? task.machine.files.find(task.path(name)) : node;
    if (!target) {
      await task.complain(`${name}: No such file or directory`);
      code = 1;
    } else if (target.kind === 'directory' && !flags.has('d')) directories.push(name);
    else files.push([name, target]);
  }
  if (files.length > 0) await show(task, files, flags);
  for (const [index, name] of directories.entries()) {
    const titled = rest.length > 1 || flags.has('R');
    if (index > 0 || files.length > 0) await task.write('\n');
    await listDirectory(task, name, flags, titled);
  }
  return code;
}

async function listDirectory(
  task: Task,
  name: string,
  flags: ReadonlySet<string>,
  titled: boolean,
  depth = 0,
): Promise<void> {
  const directory = task.machine.files.directory(task.path(name));
  if (titled) await task.write(`${name}:\n`);
  let entries = [...directory.entries].filter(([each]) => flags.has('a') || flags.has('A') || !each.startsWith('.'));
  entries = entries.toSorted(([a, one], [b, other]) =>
    flags.has('t') ? other.modified - one.modified : flags.has('S') ? sizeOf(other) - sizeOf(one) : a < b ? -1 : 1,
  );
  if (flags.has('r')) entries.reverse();
  if (flags.has('a')) entries.unshift(['.', directory], ['..', task.machine.files.directory(task.path(`${name}/..`))]);
  if (flags.has('l'))
    await task.write(`total ${entries.reduce((sum, [, node]) => sum + Math.ceil(sizeOf(node) / 4096) * 4, 0)}\n`);
  await show(task, entries, flags);
  if (!flags.has('R') || depth > MAX_DEPTH) return;
  for (const [each, node] of entries) {
    if (node.kind !== 'directory' || each === '.' || each === '..') continue;
    await task.write('\n');
    await listDirectory(task, `${name.replace(/\/$/, '')}/${each}`, flags, true, depth + 1);
  }
}

async function show(
  task: Task,
  entries: readonly (readonly [string, FileNode])[],
  flags: ReadonlySet<string>,
): Promise<void> {
  if (!flags.has('l') && !flags.has('n')) {
    const terminal = flags.has('1') || entries.length === 0 ? undefined : task.streams.stdout.terminal;
    const names = entries.map(([name, node]) => (flags.has('F') && node.kind === 'directory' ? `${name}/` : name));
    const wide = Math.max(...names.map((name) => name.length)) + 2;
    const columns = terminal ? Math.max(1, Math.floor((terminal.size.columns + 2) / wide)) : 1;
    const rows = Math.ceil(names.length / columns);
    for (let row = 0; row < rows; row += 1) {
      const line = names.filter((_, index) => index % rows === row);
      await task.write(`${line.map((name, index) => (index < line.length - 1 ? name.padEnd(wide) : name)).join('')}\n`);
    }
    return;
  }
  const width = Math.max(...entries.map(([, node]) => String(sizeOf(node)).length), 9);
  const owner = flags.has('n') ? '0        0       ' : 'root     root    ';
  for (const [name, node] of entries) {
    const links = node.kind === 'directory' ? 2 : 1;
    const size = String(sizeOf(node)).padStart(width);
    const time = formatDate('%b %e %H:%M', node.modified);
    const target = node.kind === 'link' ? ` -> ${node.target}` : '';
    await task.write(`${modeText(node)} ${String(links).padStart(4)} ${owner} ${size} ${time} ${name}${target}\n`);
  }
}

async function find(task: Task, args: readonly string[]): Promise<number> {
  const start = args.findIndex((each) => /^[-!(]/.test(each));
  const roots = args.slice(0, start < 0 ? undefined : start);
  const search = readSearch(start < 0 ? [] : args.slice(start));
  let code = 0;
  for (const root of roots.length === 0 ? ['.'] : roots) {
    const node = task.machine.files.find(task.path(root), false);
    if (node) await visit(task, root, node, search, 0);
    else {
      await task.complain(`${root}: No such file or directory`);
      code = 1;
    }
  }
  return code;
}

interface Search {
  matches: (path: string, node: FileNode) => boolean;
  deepest: number;
  from: number;
  remove: boolean;
  end: string;
}

function readSearch(args: readonly string[]): Search {
  const tests: Search['matches'][] = [];
  const search: Search = {
    matches: (path, node) => tests.every((test) => test(path, node)),
    deepest: MAX_DEPTH,
    from: 0,
    remove: false,
    end: '\n',
  };
  let negated = false;
  const add = (test: Search['matches']): void => {
    const not = negated;
    negated = false;
    tests.push((path, node) => test(path, node) !== not);
  };
  for (let index = 0; index < args.length; index += 1) {
    const value = args[index + 1] ?? '';
    const option = args[index] ?? '';
    if (option === '!' || option === '-not') negated = true;
    else if (option === '-delete') search.remove = true;
    else if (option === '-print0') search.end = '\0';
    else if (option === '-empty')
      add((_, node) => (node.kind === 'directory' ? node.entries.size === 0 : sizeOf(node) === 0));
    else if (option !== '-print') {
      index += 1;
      const test = valueTest(option, value);
      if (test) add(test);
      else if (option === '-maxdepth') search.deepest = Number(value);
      else if (option === '-mindepth') search.from = Number(value);
      else throw new FileError(option, 'unrecognized');
    }
  }
  return search;
}

function valueTest(option: string, value: string): Search['matches'] | undefined {
  // oxlint-disable-next-line asterism/linear-expression -- the pattern is the user's own, and only a simulated pod waits for it
  const expression = new RegExp(
    `^${value
      .replaceAll(/[$()+.\\^{|}]/g, '\\$&')
      .replaceAll('*', '.*')
      .replaceAll('?', '.')}$`,
    option.startsWith('-i') ? 'is' : 's',
  );
  if (option === '-name' || option === '-iname') return (path) => expression.test(path.replace(/^.*\/(?=.)/, ''));
  if (option === '-path') return (path) => expression.test(path);
  const kinds: Record<string, FileNode['kind']> = { f: 'file', d: 'directory', l: 'link', c: 'device' };
  if (option === '-type') return (_, node) => node.kind === kinds[value];
  if (option !== '-size') return undefined;
  const match = /^([+-]?)(\d+)([ckMG]?)$/.exec(value);
  const unit = { c: 1, k: 2 ** 10, M: 2 ** 20, G: 2 ** 30 }[match?.[3] ?? ''] ?? 512;
  return (_, node) => {
    const units = Math.ceil(sizeOf(node) / unit);
    const wanted = Number(match?.[2]);
    return match?.[1] === '+' ? units > wanted : match?.[1] === '-' ? units < wanted : units === wanted;
  };
}

async function visit(task: Task, path: string, node: FileNode, search: Search, depth: number): Promise<void> {
  const found = depth >= search.from && search.matches(path, node);
  if (found && !search.remove) await task.write(`${path}${search.end}`);
  if (node.kind === 'directory' && depth < search.deepest) {
    for (const [name, child] of node.entries.entries().toArray())
      await visit(task, `${path.replace(/\/$/, '')}/${name}`, child, search, depth + 1);
  }
  if (found && search.remove) task.machine.files.remove(task.path(path));
}

async function stat(task: Task, args: readonly string[]): Promise<number> {
  const { values, rest, flags } = readOptions(args, 'c:Lf', { format: 'c' });
  for (const name of rest) {
    const node = task.machine.files.get(task.path(name), flags.has('L'));
    const kind = {
      directory: 'directory',
      file: node.kind === 'file' && node.content.size === 0 ? 'regular empty file' : 'regular file',
      link: 'symbolic link',
      device: 'character special file',
    }[node.kind];
    const time = formatDate('%F %T.000000000 +0000', node.modified);
    const mode = node.mode.toString(8);
    const fields: Record<string, string> = {
      n: name,
      s: String(sizeOf(node)),
      a: mode,
      A: modeText(node),
      F: kind,
      i: String(node.inode),
      y: time,
      h: '1',
      Y: String(Math.floor(node.modified / 1000)),
      u: '0',
      g: '0',
      U: 'root',
      G: 'root',
      b: String(Math.ceil(sizeOf(node) / 512)),
    };
    const format = values.get('c');
    const text =
      format === undefined
        ? `  File: ${name}${node.kind === 'link' ? ` -> ${node.target}` : ''}\n  Size: ${fields['s']}\tBlocks: ${fields['b']}\tIO Block: 4096   ${kind}\n` +
          `Device: 2ah/42d\tInode: ${node.inode}\tLinks: 1\nAccess: (0${mode}/${modeText(node)})  Uid: (    0/    root)   Gid: (    0/    root)\n` +
          `Access: ${time}\nModify: ${time}\nChange: ${time}`
        : format.replaceAll(/%([A-Za-z])/g, (found, letter: string) => fields[letter] ?? found);
    await task.write(`${text}\n`);
  }
  return 0;
}

async function du(task: Task, args: readonly string[]): Promise<number> {
  const { flags, rest } = readOptions(args, 'shkma');
  const measure = async (path: string, node: FileNode, top: boolean): Promise<number> => {
    let bytes = Math.ceil(sizeOf(node) / 4096) * 4096;
    if (node.kind === 'directory') {
      for (const [name, child] of node.entries)
        bytes += await measure(`${path.replace(/\/$/, '')}/${name}`, child, false);
    }
    const told = top || (!flags.has('s') && (node.kind === 'directory' || flags.has('a')));
    if (told)
      await task.write(
        `${flags.has('h') ? humanSize(bytes) : Math.ceil(bytes / (flags.has('m') ? 2 ** 20 : 1024))}\t${path}\n`,
      );
    return bytes;
  };
  for (const name of rest.length === 0 ? ['.'] : rest)
    await measure(name, task.machine.files.get(task.path(name), false), true);
  return 0;
}

function humanSize(bytes: number): string {
  const units = ['', 'K', 'M', 'G'];
  const power = Math.min(units.length - 1, Math.floor(Math.log2(Math.max(1, bytes)) / 10));
  return power === 0 ? String(bytes) : `${(bytes / 1024 ** power).toFixed(1)}${units[power]}`;
}

async function df(task: Task, args: readonly string[]): Promise<number> {
  const { flags } = readOptions(args, 'hkmTP');
  const { used, limit } = task.machine.files;
  const show = (bytes: number): string =>
    (flags.has('h') ? humanSize(bytes) : String(Math.ceil(bytes / 1024))).padStart(10);
  await task.write(
    `Filesystem           ${flags.has('h') ? '      Size' : '1K-blocks '}      Used Available Use% Mounted on\n`,
  );
  await task.write(
    `overlay             ${show(limit)}${show(used)}${show(limit - used)} ${String(Math.ceil((used * 100) / limit)).padStart(3)}% /\n`,
  );
  return 0;
}

async function readlink(task: Task, args: readonly string[]): Promise<number> {
  const { flags, rest } = readOptions(args, 'fnve');
  const resolve = flags.has('f') || task.argv[0] === 'realpath';
  for (const name of rest) {
    let path = task.path(name);
    let node = task.machine.files.find(path, false);
    for (let links = 0; resolve && node?.kind === 'link' && links < 40; links += 1) {
      path = node.target.startsWith('/') ? node.target : `${path.slice(0, path.lastIndexOf('/') + 1)}${node.target}`;
      path = task.path(path);
      node = task.machine.files.find(path, false);
    }
    if (!resolve && node?.kind !== 'link') return 1;
    await task.write(`${resolve || node?.kind !== 'link' ? path : node.target}${flags.has('n') ? '' : '\n'}`);
  }
  return 0;
}
