import { writeLineNow } from '../output/terminal.ts';

/**
 * Prints a line on stdout for whoever waits for it. A service lives on where nobody reads it (`aster hub | head -1`) or the disk
 * is full: what the line says is true all the same.
 */
export function announce(line: string): void {
  try {
    writeLineNow(line);
  } catch {
    // Nobody is there to be told.
  }
}
