import type { Redirection } from 'unbash';
import { type Sink, type Source, sourceOf } from '../byte-stream.ts';
import { FileError, NO_SUCH_FILE } from '../file-system.ts';
import { openSink, openSource } from '../open-file.ts';
import type { Streams } from '../task.ts';
import type { Shell } from './shell.ts';

/** The streams of the shell after the redirections, in their order. Rejects with a `FileError` if a file cannot be opened. */
export async function redirect(shell: Shell, redirections: readonly Redirection[]): Promise<Streams> {
  const open: (Source | Sink)[] = [shell.task.streams.stdin, shell.task.streams.stdout, shell.task.streams.stderr];
  for (const redirection of redirections) {
    const { operator, descriptor } = redirection;
    const number = descriptor?.type === 'FileDescriptor' ? descriptor.value : operator.startsWith('<') ? 0 : 1;
    const target = await targetOf(shell, redirection);
    if (operator.startsWith('<<')) open[number] = sourceOf(target);
    else if (operator === '>&' || operator === '<&') {
      const other = open[Number(target)];
      if (!other) throw new FileError(target, 'Bad file descriptor');
      open[number] = other;
    } else {
      open[number] = openTarget(shell, operator, target);
    }
    if (operator.startsWith('&')) open[2] = open[number];
  }
  return { stdin: open[0] as Source, stdout: open[1] as Sink, stderr: open[2] as Sink };
}

async function targetOf(shell: Shell, redirection: Redirection): Promise<string> {
  if (redirection.type !== 'HereDoc') {
    const text = redirection.target ? await shell.expand(redirection.target) : '';
    return redirection.type === 'HereString' ? `${text}\n` : text;
  }
  const { body, delimiter, operator } = redirection;
  const tabs = (text: string): string => (operator === '<<-' ? text.replaceAll(/^\t+/gm, '') : text);
  if (delimiter?.quoted) return tabs(body.text);
  const plain = body.text.replaceAll(/\\([\\$`]|\n)/g, (_, char: string) => (char === '\n' ? '' : char));
  const parts = body.parts?.map((part) => (part.type === 'Literal' ? { ...part, value: tabs(part.value) } : part));
  return shell.expand({ value: tabs(plain), parts });
}

function openTarget({ task }: Shell, operator: string, target: string): Source | Sink {
  try {
    if (operator === '<' || operator === '<>') return openSource(task, task.path(target));
    return openSink(task, task.path(target), { append: operator.endsWith('>>') });
  } catch (error) {
    if (!(error instanceof FileError)) throw error;
    const [verb, missing] = operator === '<' ? ['open', 'no such file'] : ['create', 'nonexistent directory'];
    throw new FileError(`can't ${verb} ${target}`, error.message === NO_SUCH_FILE ? missing : error.message);
  }
}
