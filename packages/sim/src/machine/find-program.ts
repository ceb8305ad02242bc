import { absolutePath } from './file-system.ts';
import type { Program, Task } from './task.ts';

const PROGRAM_DIRECTORY = /^\/(?:usr\/(?:local\/)?)?s?bin\//;

/** The name of the program that a path to one of the directories of programs means. */
export function programName(path: string): string {
  return path.replace(PROGRAM_DIRECTORY, '');
}

/** A program, or why there is none: 127 if it does not exist, 126 if it cannot run. */
export type FoundProgram = { program: Program; argv: readonly string[] } | { code: 126 | 127; message: string };

/** Finds the program that a command names: one of the machine's, or an executable file, which is run as a shell script. */
export function findProgram(
  { machine, directory }: Pick<Task, 'machine' | 'directory'>,
  argv: readonly string[],
): FoundProgram {
  const name = argv[0] ?? '';
  const known = machine.programs.get(programName(name));
  if (known) return { program: known, argv };
  const path = absolutePath(directory, name);
  const node = name.includes('/') ? machine.files.find(path) : undefined;
  if (!node) return { code: 127, message: 'not found' };
  const shell = machine.programs.get('sh');
  const runnable = node.kind === 'file' && (node.mode & 0o111) !== 0;
  if (!runnable || !shell) return { code: 126, message: 'Permission denied' };
  return { program: shell, argv: ['sh', path, ...argv.slice(1)] };
}
