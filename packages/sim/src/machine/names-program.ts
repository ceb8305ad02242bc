import { PROGRAMS } from './programs/programs.ts';

/** Whether a command is one of the machine's programs, which runs, and not one of the image's own, of which nothing is known. */
export function namesProgram(command: readonly string[]): boolean {
  return command.length > 0 && PROGRAMS.has((command[0] ?? '').replace(/^\/(?:usr\/(?:local\/)?)?s?bin\//, ''));
}
