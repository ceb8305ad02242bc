import { readFile } from 'node:fs/promises';
import { CommandError, EXIT } from '../exit-code.ts';

export interface TokenSource {
  /** `-` is stdin. Goes before the variable. */
  file?: string | undefined;
  /** `$ASTERISM_TOKEN`. */
  variable?: string | undefined;
  /** Told where a named file is not there. */
  onMissing(file: string): void;
  readStdin(): Promise<string>;
}

/**
 * The bootstrap token, or undefined where there is none: a cluster that has joined needs none, so a file that is not there any
 * more is no error by itself. Never quotes what it read.
 */
export async function readBootstrapToken(source: TokenSource): Promise<string | undefined> {
  const { file, variable } = source;
  if (file === undefined) return variable ? checked(variable, 'ASTERISM_TOKEN') : undefined;
  if (file === '-') return checked(await source.readStdin(), 'stdin');
  try {
    return checked(await readFile(file, 'utf8'), file);
  } catch (error) {
    if (error instanceof CommandError) throw error;
    const { code = 'unknown' } = error as NodeJS.ErrnoException;
    if (code !== 'ENOENT') throw new CommandError(`--token-file ${file}: cannot be read (${code})`, EXIT.error);
    source.onMissing(file);
    return undefined;
  }
}

function checked(text: string, where: string): string {
  const token = text.trim();
  if (token === '') throw new CommandError(`${where}: there is no token in it`, EXIT.usage);
  if (/[\s\0]/.test(token)) {
    throw new CommandError(`${where}: it holds more than one token: one word on one line is right`, EXIT.usage);
  }
  return token;
}
