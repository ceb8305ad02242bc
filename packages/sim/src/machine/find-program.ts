import type { Program, Task } from './task.ts';

const PROGRAM_DIRECTORY = /^\/(?:usr\/(?:local\/)?)?s?bin\/([^/]+)$/;

/** A program, or why there is none: 127 for what is not there, 126 for what cannot be run. */
export type FoundProgram = { program: Program; argv: readonly string[] } | { code: 126 | 127; message: string };

/** The program that a command names: one of the machine's by name or path, or a script with the right to be run. */
export function findProgram(task: Pick<Task, 'machine' | 'path'>, argv: readonly string[]): FoundProgram {
  const name = argv[0] ?? '';
  const { programs } = task.machine;
  const known = programs.get(name.includes('/') ? (PROGRAM_DIRECTORY.exec(name)?.[1] ?? '') : name);
  if (known) return { program: known, argv };
  if (!name.includes('/')) return { code: 127, message: 'not found' };
  const path = task.path(name);
  const node = task.machine.files.find(path);
  if (!node) return { code: 127, message: 'not found' };
  const shell = programs.get('sh');
  const runnable = node.kind === 'file' && (node.mode & 0o111) !== 0;
  if (!runnable || !shell) return { code: 126, message: 'Permission denied' };
  return { program: shell, argv: ['sh', path, ...argv.slice(1)] };
}
