import { programName } from './find-program.ts';
import { PROGRAMS } from './programs/programs.ts';

/** Whether a command is one of the machine's programs. Any other command stands for a server of the image. */
export function namesProgram(command: readonly string[]): boolean {
  return command.length > 0 && PROGRAMS.has(programName(command[0] ?? ''));
}
