import { ClientError } from '@asterism/client';
import { HubError } from '@asterism/hub';
import { CommandError, EXIT } from '../exit-code.ts';
import { unusable } from './prepare-data-dir.ts';

const UNUSABLE = new Set(['EACCES', 'EPERM', 'EROFS', 'ENOTDIR', 'EEXIST', 'ENOSPC']);

/** Why a hub on this data dir did not start, as one line for whoever started it; faults of our own stay as they are. */
export function explainHubStart(error: unknown, dataDir: string): unknown {
  if (error instanceof HubError) return new CommandError(error.message, EXIT.error, { cause: error });
  // Of a kubeconfig or a network, with codes of the same names.
  if (error instanceof ClientError) return error;
  const { code } = error as NodeJS.ErrnoException;
  if (code === undefined || !UNUSABLE.has(code)) return error;
  return unusable(dataDir, error as NodeJS.ErrnoException);
}
