import { forEachChild, parse, type SyntaxNode } from 'unbash';
import { openSource } from '../open-file.ts';
import { readAll, readLine } from '../read-lines.ts';
import { Interrupted, type Program, UsageError } from '../task.ts';
import { setFlags } from './builtins.ts';
import { Shell } from './shell.ts';
import { ShellError } from './shell-error.ts';

/** `sh`: runs `-c SCRIPT`, a file, or commands from its input, with a prompt if that is a terminal. */
export const sh: Program = async (task, args) => {
  const shell = new Shell(task);
  const rest = [...(setFlags(shell, args) ?? [])];
  const script = shell.flags.has('c') ? rest.shift() : undefined;
  if (shell.flags.has('c') && script === undefined) throw new UsageError('-c requires an argument', 2);
  const file = shell.flags.has('c') || shell.flags.has('s') ? undefined : rest[0];
  shell.name = rest.shift() ?? shell.name;
  shell.positional = rest;
  if (script !== undefined) return shell.finish(() => shell.runText(script));
  if (file !== undefined) {
    const text = await readAll(task, openSource(task, task.path(file)));
    return shell.finish(() => shell.runText(text.toString()));
  }
  shell.interactive = shell.flags.has('i') || task.streams.stdin.terminal !== undefined;
  return shell.finish(() => readCommands(shell));
};

/** Reads line by line and runs each command as soon as it is complete. A command reads the lines after its own. */
async function readCommands(shell: Shell): Promise<void> {
  let text = '';
  for (;;) {
    try {
      if (shell.interactive) await prompt(shell, text !== '');
      const line = await readLine(shell.task, shell.task.streams.stdin);
      text += line?.toString() ?? '';
      if (line && isIncomplete(text)) continue;
      const complete = text;
      text = '';
      await shell.runText(complete);
      if (!line) return;
    } catch (error) {
      text = '';
      await recover(shell, error);
    }
  }
}

/** Whether more lines may complete the script. */
function isIncomplete(text: string): boolean {
  const script = parse(text);
  const last = script.errors?.at(-1);
  if (last?.message.startsWith('expected')) return last.pos >= text.trimEnd().length;
  if (last) return last.message.startsWith('unterminated');
  return /(?<!\\)(?:\\\\)*\\\n$/.test(text) || hasOpenDocument(script);
}

function hasOpenDocument(node: SyntaxNode): boolean {
  let open = node.type === 'HereDoc' && node.closing === undefined;
  forEachChild(node, (child) => {
    open ||= hasOpenDocument(child);
  });
  return open;
}

async function prompt(shell: Shell, more: boolean): Promise<void> {
  const home = shell.get('HOME') ?? '';
  const { directory } = shell.task;
  const inside = home.length > 1 && `${directory}/`.startsWith(`${home}/`);
  const shown = inside ? `~${directory.slice(home.length)}` : directory;
  await shell.task.write(more ? '> ' : `${shown} # `, shell.task.streams.stderr);
}

/** An interactive shell goes on after an error that ends any other. */
async function recover(shell: Shell, error: unknown): Promise<void> {
  shell.interrupted = false;
  if (shell.interactive && error instanceof ShellError) return shell.fail(error);
  if (!shell.interactive || !(error instanceof Interrupted)) throw error;
  shell.status = 130;
  await shell.task.write('\n', shell.task.streams.stderr);
}
