import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { CommandError, EXIT } from '../exit-code.ts';

/** Makes the folder, for this user alone, with what is missing above it. Rejects with a line for whoever chose it. */
export async function prepareDataDir(dataDir: string): Promise<void> {
  try {
    await makeFolder(dataDir);
  } catch (error) {
    throw unusable(dataDir, error as NodeJS.ErrnoException);
  }
}

/** A data dir that cannot be used: what, where, why, and what to do. */
export function unusable(dataDir: string, error: NodeJS.ErrnoException): CommandError {
  return new CommandError(
    `data dir ${dataDir}: cannot be written (${error.code ?? error.message}): give another with --data-dir, or make it yours`,
    EXIT.error,
    { cause: error },
  );
}

/** Step by step: Node's own recursive `mkdir` never returns where a file system has no room for folders, as `/proc`. */
async function makeFolder(path: string): Promise<void> {
  if ((await stat(path).catch(() => undefined))?.isDirectory()) return;
  if (dirname(path) !== path) await makeFolder(dirname(path));
  await mkdir(path, { mode: 0o700 });
}
