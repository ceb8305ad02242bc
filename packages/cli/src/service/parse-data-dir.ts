import { resolve } from 'node:path';
import { CommandError, EXIT } from '../exit-code.ts';

/** An absolute path. Throws as wrong usage where it is empty, as the unset variable of a script: that would be the current folder. */
export function parseDataDir(flag: string | undefined, otherwise: string): string {
  if (flag === '') throw new CommandError('--data-dir: it is empty: name a folder', EXIT.usage);
  return resolve(flag ?? otherwise);
}
