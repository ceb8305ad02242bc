import { type FileNode, FileError, nameOf } from '../file-system.ts';
import { openSink, openSource } from '../open-file.ts';
import { type Program, type Task, UsageError } from '../task.ts';
import { forEachName, readOptions } from './options.ts';

/** Programs that list, create, change and remove files. */
export const FILE_PROGRAMS: Readonly<Record<string, Program>> = {
  ls,
  mkdir: (task, args) => {
    const { flags, rest } = readOptions(args, 'p');
    const make = (_: string, path: string): unknown =>
      task.machine.files.makeDirectory(path, { parents: flags.has('p') });
    return forEachName(task, rest, make, "can't create directory");
  },
  rm: (task, args) => {
    const { flags, rest } = readOptions(args, 'rRf');
    if (flags.has('f') && rest.length === 0) return 0;
    const deep = flags.has('r') || flags.has('R');
    const remove = (name: string, path: string): void => {
      const node = task.machine.files.find(path);
      if (!node && flags.has('f')) return;
      if (node?.kind === 'directory' && !deep) throw new FileError(name, 'is a directory');
      task.machine.files.remove(path);
    };
    return forEachName(task, rest, remove, "can't remove");
  },
  mv: (task, args) => transfer(task, readOptions(args, 'f').rest, (from, to) => task.machine.files.move(from, to)),
  cp: (task, args) => {
    const { flags, rest } = readOptions(args, 'rRapf');
    const deep = ['r', 'R', 'a'].some((flag) => flags.has(flag));
    return transfer(task, rest, (from, to) => copy(task, from, to, deep));
  },
  touch: (task, args) =>
    forEachName(task, args, (_, path) => {
      const { files, clock } = task.machine;
      (files.find(path) ?? files.openToWrite(path)).modified = clock.wall().getTime();
    }),
  chmod: (task, [mode = '', ...names]) => {
    const [, octal, sign, letters = ''] = /^(?:([0-7]+)|[ugoa]*([-+])([rwx]+))$/.exec(mode) ?? [];
    if (octal === undefined && sign === undefined) throw new UsageError(`invalid mode '${mode}'`);
    const bits = Array.from(letters).reduce((sum, letter) => sum | ({ r: 0o444, w: 0o222, x: 0o111 }[letter] ?? 0), 0);
    return forEachName(task, names, (_, path) => {
      const node = task.machine.files.get(path);
      const changed = sign === '+' ? node.mode | bits : node.mode & ~bits;
      node.mode = octal === undefined ? changed : Number.parseInt(octal, 8);
    });
  },
};

/** Bytes of a file. */
export function sizeOf(node: FileNode): number {
  return node.kind === 'file' ? node.size : 0;
}

async function ls(task: Task, args: readonly string[]): Promise<number> {
  const { flags, rest } = readOptions(args, 'laAd1h');
  const names = rest.length === 0 ? ['.'] : rest;
  return forEachName(task, names, async (name, path) => {
    const node = task.machine.files.get(path);
    if (node.kind !== 'directory' || flags.has('d')) return task.write(lineOf(name, node, flags));
    if (names.length > 1) await task.write(`${name}:\n`);
    const hidden = flags.has('a') || flags.has('A');
    const entries = [...node.entries].filter(([each]) => hidden || !each.startsWith('.'));
    const sorted = entries.toSorted(([a], [b]) => (a < b ? -1 : 1));
    await task.write(sorted.map(([each, child]) => lineOf(each, child, flags)).join(''));
  });
}

function lineOf(name: string, node: FileNode, flags: ReadonlyMap<string, string>): string {
  if (!flags.has('l')) return `${name}\n`;
  const kind = { directory: 'd', file: '-', device: 'c' }[node.kind];
  const bits = Array.from('rwxrwxrwx', (letter, index) => ((node.mode >> (8 - index)) & 1 ? letter : '-')).join('');
  const time = new Date(node.modified).toUTCString().replace(/^\w+, (\d+) (\w+) \d+ (\d+:\d+).*/, '$2 $1 $3');
  return `${kind}${bits}    1 root     root     ${String(sizeOf(node)).padStart(9)} ${time} ${name}\n`;
}

/** Moves or copies files to a target: into it if it is a directory. */
async function transfer(
  task: Task,
  names: readonly string[],
  body: (from: string, to: string) => unknown,
): Promise<number> {
  const target = task.path(names.at(-1) ?? '');
  const into = task.machine.files.find(target)?.kind === 'directory';
  if (names.length > 2 && !into) throw new UsageError(`target '${target}' is not a directory`);
  return forEachName(task, names.slice(0, -1), (_, from) => body(from, into ? `${target}/${nameOf(from)}` : target));
}

async function copy(task: Task, from: string, to: string, deep: boolean): Promise<void> {
  const { files } = task.machine;
  const node = files.get(from);
  if (node === files.find(to)) throw new FileError(from, 'is the same file');
  if (node.kind !== 'directory') return task.copy(openSource(task, from), openSink(task, to, { mode: node.mode }));
  if (!deep) throw new FileError(from, 'Is a directory');
  if (`${to}/`.startsWith(`${from}/`)) throw new FileError(from, 'cannot copy a directory into itself');
  files.makeDirectory(to, { parents: true });
  for (const child of node.entries.keys()) await copy(task, `${from}/${child}`, `${to}/${child}`, deep);
}
