import { absolutePath } from '../file-system.ts';
import { findProgram } from '../find-program.ts';
import { openSource } from '../open-file.ts';
import { readAll, readLine } from '../read-lines.ts';
import { Interrupted, SIGNAL_NUMBERS, signalNamed } from '../task.ts';
import { splitFields } from './expansion.ts';
import type { Shell } from './shell.ts';
import { Jump, ShellError } from './shell-error.ts';

/** A command that changes the shell itself. Runs to the exit code. */
export type Builtin = (shell: Shell, args: readonly string[]) => Promise<number> | number;

/** The commands that the shell runs itself, by name. */
export const BUILTINS: ReadonlyMap<string, Builtin> = new Map<string, Builtin>([
  [':', () => 0],
  ['cd', changeDirectory],
  ['export', (shell, args) => declare(shell, args, true)],
  ['local', (shell, args) => declare(shell, args, false)],
  ['unset', unset],
  [
    'set',
    (shell, args) => {
      shell.positional = setFlags(shell, args) ?? shell.positional;
      return 0;
    },
  ],
  ['shift', shift],
  ['exit', (shell, [code]) => jump('exit', code ?? shell.status)],
  ['return', (shell, [code]) => jump('return', code ?? shell.status)],
  ['break', (_, [levels]) => jump('break', levels ?? 1)],
  ['continue', (_, [levels]) => jump('continue', levels ?? 1)],
  ['trap', trap],
  ['wait', wait],
  ['read', read],
  ['eval', (shell, args) => shell.runText(args.join(' ')).then(() => shell.status)],
  ['.', source],
  ['source', source],
  ['exec', async (shell, args) => jump('exit', await shell.runProgram(args))],
  ['command', command],
]);

function jump(kind: Jump['kind'], value: string | number): never {
  if (!/^\d+$/.test(String(value))) throw new ShellError(`${kind}: Illegal number: ${value}`);
  throw new Jump(kind, Number(value));
}

async function changeDirectory(shell: Shell, [given = shell.get('HOME') ?? '/']: readonly string[]): Promise<number> {
  const target = given === '-' ? (shell.get('OLDPWD') ?? '/') : given;
  const path = absolutePath(shell.task.directory, target);
  const node = shell.task.machine.files.find(path);
  if (node?.kind !== 'directory') {
    await shell.complain(`cd: can't cd to ${target}: ${node ? 'Not a directory' : 'No such file or directory'}`);
    return 2;
  }
  shell.set('OLDPWD', shell.task.directory);
  shell.set('PWD', path);
  shell.task.directory = path;
  if (given === '-') await shell.task.write(`${path}\n`);
  return 0;
}

async function declare(shell: Shell, args: readonly string[], exported: boolean): Promise<number> {
  for (const each of args) {
    const [name = '', value] = each.split(/=(.*)/s, 2);
    if (!/^[A-Za-z_]\w*$/.test(name)) throw new ShellError(`${each}: bad variable name`);
    if (value !== undefined) shell.set(name, value);
    if (exported) shell.exported.add(name);
  }
  return 0;
}

function unset(shell: Shell, names: readonly string[]): number {
  for (const name of names) {
    for (const known of [shell.variables, shell.exported, shell.functions]) known.delete(name);
  }
  return 0;
}

/** Sets the flags of `sh` and `set`: the arguments after them, if there are any. The name after `-o` is ignored. */
export function setFlags(shell: Shell, args: readonly string[]): readonly string[] | undefined {
  let at = 0;
  for (let option = args[at]; option && /^[-+]./.test(option) && option !== '--'; option = args[at]) {
    for (const flag of option.slice(1)) {
      if (option.startsWith('-')) shell.flags.add(flag);
      else shell.flags.delete(flag);
    }
    at += option.endsWith('o') ? 2 : 1;
  }
  return at < args.length ? args.slice(args[at] === '--' ? at + 1 : at) : undefined;
}

function shift(shell: Shell, [count = '1']: readonly string[]): number {
  if (Number(count) > shell.positional.length) return 1;
  shell.positional = shell.positional.slice(Number(count));
  return 0;
}

async function trap(shell: Shell, [action, ...names]: readonly string[]): Promise<number> {
  for (const given of names) {
    const name = given === 'EXIT' || given === '0' ? 'EXIT' : signalNamed(given);
    if (name === undefined) throw new ShellError(`trap: ${given}: invalid signal specification`);
    if (action === undefined || action === '-') shell.traps.delete(name);
    else shell.traps.set(name, action);
  }
  return 0;
}

/** Waits for some or all background commands. A signal that the shell traps ends the wait. */
async function wait(shell: Shell, ids: readonly string[]): Promise<number> {
  let status = 0;
  shell.waiting = true;
  try {
    for (const id of ids.length > 0 ? ids.map(Number) : [...shell.jobs.keys()]) {
      status = await shell.task.until(shell.jobs.get(id) ?? Promise.resolve(127));
      shell.jobs.delete(id);
    }
  } catch (error) {
    if (!(error instanceof Interrupted) || shell.interactive) throw error;
    return 128 + SIGNAL_NUMBERS[shell.pending[0] ?? 'TERM'];
  } finally {
    shell.waiting = false;
  }
  return ids.length > 0 ? status : 0;
}

/** Reads a line into variables: a field into each, the rest into the last. */
async function read(shell: Shell, args: readonly string[]): Promise<number> {
  const names = args.filter((arg) => !arg.startsWith('-'));
  const line = await readLine(shell.task, shell.task.streams.stdin);
  const text = line?.toString().replace(/\n$/, '') ?? '';
  const plain = args.includes('-r') ? text : text.replaceAll(/\\(.)/g, '$1');
  const separators = shell.get('IFS') ?? ' \t\n';
  const trimmed = separators === '' ? plain : plain.trim();
  const fields = splitFields(trimmed, separators, Math.max(1, names.length));
  for (const [index, name] of (names.length > 0 ? names : ['REPLY']).entries()) shell.set(name, fields[index] ?? '');
  return line?.toString().endsWith('\n') ? 0 : 1;
}

async function source(shell: Shell, [name = '']: readonly string[]): Promise<number> {
  const text = await readAll(shell.task, openSource(shell.task, shell.task.path(name)));
  await shell.runText(text.toString());
  return shell.status;
}

/** `command NAME …` runs a program; `command -v NAME` prints where it is. */
async function command(shell: Shell, args: readonly string[]): Promise<number> {
  const [option, name = ''] = args;
  if (option !== '-v') return shell.runProgram(args);
  const builtin = BUILTINS.has(name) || shell.functions.has(name);
  if (!builtin && 'code' in findProgram(shell.task, [name])) return 127;
  await shell.task.write(builtin || name.includes('/') ? `${name}\n` : `/bin/${name}\n`);
  return 0;
}
