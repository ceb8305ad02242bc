import type { Source } from '../byte-stream.ts';
import { FileError } from '../file-system.ts';
import { openSource } from '../open-file.ts';
import type { Task } from '../task.ts';

/** Opens what a program is to read: files, `-` for its standard input, that too where none is named. */
export async function forEachInput(
  task: Task,
  names: readonly string[],
  body: (source: Source, name: string) => Promise<void>,
): Promise<number> {
  let code = 0;
  for (const name of names.length === 0 ? ['-'] : names) {
    try {
      await body(name === '-' ? task.streams.stdin : openSource(task, task.path(name)), name);
    } catch (error) {
      if (!(error instanceof FileError)) throw error;
      const directory = error.message === 'Is a directory';
      await task.complain(directory ? `read error: ${error.message}` : `can't open '${name}': ${error.message}`);
      code = 1;
    }
  }
  return code;
}
