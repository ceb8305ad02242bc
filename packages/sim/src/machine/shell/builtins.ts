import { absolutePath } from '../file-system.ts';
import { findProgram } from '../find-program.ts';
import { readAll, readLine } from '../read-lines.ts';
import { openSource } from '../open-file.ts';
import { SIGNAL_NUMBERS } from '../task.ts';
import { BreakLoop, ExitShell, ReturnFunction } from './control-flow.ts';
import type { Shell } from './shell.ts';

/** A command that changes the shell itself: its exit code. It reads and writes the shell's streams. */
export type Builtin = (shell: Shell, args: readonly string[]) => Promise<number> | number;

const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** What a shell does itself, by name. */
export const BUILTINS: ReadonlyMap<string, Builtin> = new Map<string, Builtin>([
  [':', () => 0],
  ['cd', changeDirectory],
  ['export', (shell, args) => declare(shell, args, true)],
  ['readonly', (shell, args) => declare(shell, args, false)],
  ['local', (shell, args) => declare(shell, args, false)],
  ['unset', unset],
  ['set', setOptions],
  ['shift', shift],
  ['exit', (shell, [code]) => leave(shell, code)],
  [
    'return',
    (shell, [code]) => {
      throw new ReturnFunction(code === undefined ? shell.status : Number(code));
    },
  ],
  [
    'break',
    (_, [levels]) => {
      throw new BreakLoop(false, Number(levels ?? 1));
    },
  ],
  [
    'continue',
    (_, [levels]) => {
      throw new BreakLoop(true, Number(levels ?? 1));
    },
  ],
  ['trap', trap],
  ['wait', wait],
  ['jobs', () => 0],
  ['read', read],
  ['eval', evaluate],
  ['.', source],
  ['source', source],
  ['exec', replace],
  ['command', command],
  ['type', (shell, args) => describe(shell, args, true)],
  ['umask', async (shell) => (await shell.task.write('0022\n', shell.streams.stdout), 0)],
]);

async function changeDirectory(shell: Shell, args: readonly string[]): Promise<number> {
  const [given] = args.filter((each) => !/^-[LP]$/.test(each));
  const target = given === '-' ? shell.get('OLDPWD') : (given ?? shell.get('HOME') ?? '/');
  const path = absolutePath(shell.directory, target ?? '/');
  const node = shell.files.find(path);
  if (node?.kind !== 'directory') {
    const why = node ? 'Not a directory' : 'No such file or directory';
    await shell.complain(`cd: can't cd to ${target}: ${why}`);
    return 2;
  }
  shell.set('OLDPWD', shell.directory);
  shell.state.directory = path;
  shell.task.directory = path;
  shell.set('PWD', path);
  if (given === '-') await shell.task.write(`${path}\n`, shell.streams.stdout);
  return 0;
}

async function declare(shell: Shell, args: readonly string[], exported: boolean): Promise<number> {
  for (const each of args.filter((arg) => !arg.startsWith('-'))) {
    const equals = each.indexOf('=');
    const name = equals < 0 ? each : each.slice(0, equals);
    if (!NAME.test(name)) {
      await shell.complain(`export: ${each}: bad variable name`);
      return 2;
    }
    if (equals >= 0) shell.set(name, each.slice(equals + 1));
    if (exported) shell.state.exported.add(name);
  }
  if (args.length > 0 && !args.includes('-p')) return 0;
  for (const [name, value] of sorted(shell.environment())) {
    await shell.task.write(`export ${name}='${value.replaceAll("'", "'\\''")}'\n`, shell.streams.stdout);
  }
  return 0;
}

function sorted(variables: ReadonlyMap<string, string>): (readonly [string, string])[] {
  return [...variables].toSorted(([a], [b]) => (a < b ? -1 : 1));
}

function unset(shell: Shell, args: readonly string[]): number {
  for (const name of args.filter((each) => !each.startsWith('-'))) {
    shell.state.variables.delete(name);
    shell.state.exported.delete(name);
    shell.state.functions.delete(name);
  }
  return 0;
}

async function setOptions(shell: Shell, args: readonly string[]): Promise<number> {
  if (args.length === 0) {
    for (const [name, value] of sorted(shell.state.variables)) {
      await shell.task.write(`${name}='${value}'\n`, shell.streams.stdout);
    }
    return 0;
  }
  const rest = [...args];
  for (let option = rest[0]; option !== undefined && /^[-+]./.test(option); option = rest[0]) {
    rest.shift();
    if (option === '--') break;
    if (option.endsWith('o')) rest.shift();
    for (const flag of option.slice(1)) {
      if (option.startsWith('-')) shell.state.flags.add(flag);
      else shell.state.flags.delete(flag);
    }
  }
  if (rest.length > 0 || args.includes('--')) shell.state.positional = rest;
  return 0;
}

function shift(shell: Shell, [count = '1']: readonly string[]): number {
  if (Number(count) > shell.positional.length) return 1;
  shell.state.positional = shell.positional.slice(Number(count));
  return 0;
}

async function leave(shell: Shell, code: string | undefined): Promise<number> {
  if (code !== undefined && !/^\d+$/.test(code)) {
    await shell.complain(`exit: Illegal number: ${code}`);
    throw new ExitShell(2);
  }
  throw new ExitShell(code === undefined ? shell.status : Number(code));
}

function trap(shell: Shell, args: readonly string[]): number {
  const [action, ...names] = args.filter((each) => each !== '--');
  for (const name of names) {
    const number = Number(name);
    const named = Object.entries(SIGNAL_NUMBERS).find(([, each]) => each === number)?.[0];
    const signal = number === 0 ? 'EXIT' : (named ?? name.toUpperCase().replace(/^SIG/, ''));
    if (action === undefined || action === '-') shell.traps.delete(signal);
    else shell.traps.set(signal, action);
  }
  return 0;
}

async function wait(shell: Shell, args: readonly string[]): Promise<number> {
  const wanted = args.map(Number);
  const jobs = args.length === 0 ? [...shell.jobs] : shell.jobs.filter(({ task }) => wanted.includes(task.pid));
  if (args.length > jobs.length) return 127;
  let code = 0;
  shell.waiting = true;
  try {
    for (const { done } of jobs) code = await shell.task.until(done);
  } finally {
    shell.waiting = false;
  }
  if (args.length > 0) return code;
  shell.jobs.length = 0;
  return 0;
}

async function read(shell: Shell, args: readonly string[]): Promise<number> {
  const raw = args.some((each) => /^-\w*r/.test(each));
  const prompt = args.indexOf('-p');
  const names = args.filter((each, index) => !each.startsWith('-') && (prompt < 0 || index !== prompt + 1));
  if (prompt >= 0) await shell.task.write(args[prompt + 1] ?? '', shell.streams.stderr);
  shell.waiting = true;
  let line: Uint8Array | undefined;
  try {
    line = await readLine(shell.task, shell.streams.stdin);
  } finally {
    shell.waiting = false;
  }
  const text = Buffer.from(line ?? []).toString();
  const separators = shell.get('IFS') ?? ' \t\n';
  const words = raw ? text.replace(/\n$/, '') : text.replace(/\n$/, '').replaceAll(/\\(.)/g, '$1');
  assignFields(shell, words, separators, names.length > 0 ? names : ['REPLY']);
  return text.endsWith('\n') ? 0 : 1;
}

/** Gives each name a field, and the last one the rest. */
function assignFields(shell: Shell, text: string, separators: string, names: readonly string[]): void {
  const isBlank = (char: string | undefined): boolean =>
    char !== undefined && ' \t'.includes(char) && separators.includes(char);
  let start = 0;
  let end = text.length;
  while (isBlank(text[start])) start += 1;
  while (end > start && isBlank(text[end - 1])) end -= 1;
  let rest = text.slice(start, end);
  for (const [index, name] of names.entries()) {
    const at = index === names.length - 1 ? -1 : Array.from(rest).findIndex((char) => separators.includes(char));
    shell.set(name, at < 0 ? rest : rest.slice(0, at));
    rest = at < 0 ? '' : rest.slice(at + 1).replace(/^[ \t]+/, '');
  }
}

async function evaluate(shell: Shell, args: readonly string[]): Promise<number> {
  shell.status = 0;
  await shell.runText(args.join(' '));
  return shell.status;
}

async function source(shell: Shell, [file = '']: readonly string[]): Promise<number> {
  const text = await readAll(shell.task, openSource(shell.task, absolutePath(shell.directory, file)));
  await shell.runText(text.toString());
  return shell.status;
}

/** `exec`: the program takes the place of the shell; with redirections alone those stay. */
async function replace(shell: Shell, args: readonly string[]): Promise<number> {
  if (args.length === 0) return 0;
  shell.traps.clear();
  throw new ExitShell(await shell.runProgram(args, shell.streams));
}

async function command(shell: Shell, args: readonly string[]): Promise<number> {
  const [option] = args;
  if (option === '-v' || option === '-V') return describe(shell, args.slice(1), option === '-V');
  const builtin = BUILTINS.get(args[0] ?? '');
  return builtin ? builtin(shell, args.slice(1)) : shell.runProgram(args, shell.streams);
}

async function describe(shell: Shell, names: readonly string[], long: boolean): Promise<number> {
  let code = 0;
  for (const name of names) {
    const builtin = BUILTINS.has(name) || shell.state.functions.has(name);
    const found = !builtin && 'program' in findProgram(shell.task, [name]);
    const path = found && !name.includes('/') ? `/bin/${name}` : name;
    if (!builtin && !found) code = 127;
    if (!long && code === 0) await shell.task.write(`${path}\n`, shell.streams.stdout);
    if (long) {
      const what = builtin ? 'is a shell builtin' : found ? `is ${path}` : 'not found';
      await shell.task.write(`${name}${what === 'not found' ? ':' : ''} ${what}\n`, shell.streams.stdout);
    }
  }
  return code;
}
