import { type Sink, type Source, sourceOf } from '../byte-stream.ts';
import { FileError } from '../file-system.ts';
import { openSink, openSource } from '../open-file.ts';
import type { Streams, Task } from '../task.ts';
import { type ExpansionScope, expandText } from './expansion.ts';
import type { Redirection } from './syntax.ts';

/** The streams of a command, changed by its redirections in their order. Throws a `FileError` for a file that cannot be opened. */
export async function redirect(
  task: Task,
  scope: ExpansionScope,
  streams: Streams,
  redirections: readonly Redirection[],
): Promise<Streams> {
  const open = new Map<number, Source | Sink>([
    [0, streams.stdin],
    [1, streams.stdout],
    [2, streams.stderr],
  ]);
  for (const redirection of redirections) {
    const { descriptor, operator } = redirection;
    const target = await expandText(scope, redirection.target);
    if (operator === '<<') open.set(descriptor, sourceOf(target));
    else if (operator === '>&' || operator === '<&') {
      const other = open.get(Number(target));
      if (!other) throw new FileError(target, 'Bad file descriptor');
      open.set(descriptor, other);
    } else {
      open.set(descriptor, openTarget(task, scope, operator, target));
    }
  }
  return { stdin: open.get(0) as Source, stdout: open.get(1) as Sink, stderr: open.get(2) as Sink };
}

function openTarget(
  task: Task,
  scope: ExpansionScope,
  operator: Redirection['operator'],
  target: string,
): Source | Sink {
  try {
    task.directory = scope.directory;
    const path = task.path(target);
    return operator === '<' || operator === '<>'
      ? openSource(task, path)
      : openSink(task, path, { append: operator === '>>' });
  } catch (error) {
    if (!(error instanceof FileError)) throw error;
    const missing = error.message === 'No such file or directory';
    const what = operator === '<' ? `can't open ${target}` : `can't create ${target}`;
    throw new FileError(
      what,
      missing && operator === '<' ? 'no such file' : missing ? 'nonexistent directory' : error.message,
    );
  }
}
