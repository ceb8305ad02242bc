import { openSource } from '../open-file.ts';
import { readAll, readLine } from '../read-lines.ts';
import { Interrupted, type Program, type Task } from '../task.ts';
import { ExitShell } from './control-flow.ts';
import { ExpansionError } from './expansion.ts';
import { parseScript } from './parse-script.ts';
import { Shell } from './shell.ts';
import { type Script, ShellSyntaxError } from './syntax.ts';

/** `sh`: `-c SCRIPT`, a file, or commands from its input, with a prompt where that is a terminal. */
export const sh: Program = async (task, args) => {
  const rest = [...args];
  const flags = new Set<string>();
  for (let option = rest[0]; option !== undefined && /^[-+]./.test(option); option = rest[0]) {
    rest.shift();
    if (option === '--') break;
    if (/^-\w*o$/.test(option)) rest.shift();
    for (const flag of option.slice(1)) flags.add(flag);
  }
  const script = flags.has('c') ? rest.shift() : undefined;
  const shell = newShell(task, rest, flags);
  if (flags.has('c')) {
    if (script !== undefined) return shell.finish(() => shell.runText(script));
    await shell.complain('-c requires an argument');
    return 2;
  }
  const [file] = rest;
  if (file !== undefined && !flags.has('s')) return runFile(shell, file);
  shell.interactive = flags.has('i') || task.streams.stdin.terminal !== undefined;
  return shell.finish(() => readCommands(shell));
};

function newShell(task: Task, rest: readonly string[], flags: ReadonlySet<string>): Shell {
  const name = rest[0] ?? task.argv[0] ?? 'sh';
  return new Shell(task, {
    variables: new Map([['PWD', task.directory], ['IFS', ' \t\n'], ...task.environment]),
    exported: new Set(task.environment.keys()),
    functions: new Map(),
    positional: rest.slice(1),
    name,
    directory: task.directory,
    flags: new Set([...flags].filter((flag) => 'eux'.includes(flag))),
  });
}

async function runFile(shell: Shell, file: string): Promise<number> {
  const { task } = shell;
  const path = task.path(file);
  if (task.machine.files.find(path)?.kind !== 'file') {
    await shell.task.write(`sh: can't open '${file}': No such file or directory\n`, task.streams.stderr);
    return 2;
  }
  const text = await readAll(task, openSource(task, path));
  return shell.finish(() => shell.runText(text.toString()));
}

/** Reads commands line by line, and runs each as soon as it is whole; what they read is what follows them. */
async function readCommands(shell: Shell): Promise<void> {
  let text = '';
  for (;;) {
    try {
      if (shell.interactive) await prompt(shell, text !== '');
      const line = await readLine(shell.task, shell.streams.stdin);
      if (line) text += Buffer.from(line).toString();
      const script = line || text !== '' ? parseSoFar(text, line === undefined) : [];
      if (script) {
        text = '';
        await shell.run(script);
        await shell.runTraps();
      }
      if (!line) return;
    } catch (error) {
      text = '';
      await recover(shell, error);
    }
  }
}

/** The script, or nothing where more text may complete it. */
function parseSoFar(text: string, atEnd: boolean): Script | undefined {
  if (/(?:^|[^\\])(?:\\\\)*\\\n$/.test(text) && !atEnd) return undefined;
  try {
    return parseScript(text);
  } catch (error) {
    if (error instanceof ShellSyntaxError && error.incomplete && !atEnd) return undefined;
    throw error;
  }
}

async function prompt(shell: Shell, more: boolean): Promise<void> {
  const home = shell.get('HOME') ?? '';
  const { directory } = shell;
  const shown =
    home.length > 1 && `${directory}/`.startsWith(`${home}/`) ? `~${directory.slice(home.length)}` : directory;
  await shell.task.write(more ? '> ' : `${shown} # `, shell.streams.stderr);
}

/** An interactive shell goes on after what ends another. */
async function recover(shell: Shell, error: unknown): Promise<void> {
  shell.clearInterrupt();
  const known = error instanceof Interrupted || error instanceof ShellSyntaxError || error instanceof ExpansionError;
  if (!shell.interactive || !known || error instanceof ExitShell) throw error;
  if (error instanceof Interrupted) {
    shell.status = 130;
    return shell.task.write('\n', shell.streams.stderr);
  }
  shell.status = 2;
  await shell.complain(error.message);
}
