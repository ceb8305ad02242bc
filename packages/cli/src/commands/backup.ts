import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { backupDataDir, type BackupSummary, HubError, restoreDataDir } from '@asterism/hub';
import { CommandError, EXIT } from '../exit-code.ts';
import type { Terminal } from '../output/terminal.ts';
import { parseDataDir } from '../service/parse-data-dir.ts';
import { prepareDataDir } from '../service/prepare-data-dir.ts';
import { oneLine } from '../output/one-line.ts';

export interface BackupFlags {
  dataDir?: string;
}

/** `aster backup`: of a hub that may run. */
export async function backup(folder: string, flags: BackupFlags, terminal: Terminal): Promise<number> {
  const dataDir = dataDirOf(flags);
  const to = folderOf(folder);
  const summary = await explained(backupDataDir({ dataDir, to }));
  terminal.out(oneLine(`backed up ${describe(summary)} in ${to}`));
  return EXIT.fine;
}

/** `aster restore`: into a folder where no hub is. */
export async function restore(folder: string, flags: BackupFlags, terminal: Terminal): Promise<number> {
  const dataDir = dataDirOf(flags);
  const from = folderOf(folder);
  await prepareDataDir(dataDir);
  const summary = await explained(restoreDataDir({ from, dataDir }));
  terminal.out(oneLine(`restored ${describe(summary)} to ${dataDir}`));
  return EXIT.fine;
}

function describe({ objects, revision, keys }: BackupSummary): string {
  return revision === 0 ? `${keys} keys and certificates` : `${objects} objects, and ${keys} keys and certificates,`;
}

function dataDirOf(flags: BackupFlags): string {
  return parseDataDir(flags.dataDir, join(homedir(), '.asterism'));
}

function folderOf(argument: string): string {
  if (argument === '') throw new CommandError('the name of the backup is empty: name a folder', EXIT.usage);
  return resolve(argument);
}

async function explained(summary: Promise<BackupSummary>): Promise<BackupSummary> {
  return await summary.catch((error: unknown) => {
    throw error instanceof HubError ? new CommandError(error.message, EXIT.error, { cause: error }) : error;
  });
}
