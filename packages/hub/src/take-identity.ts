import { randomUUID } from 'node:crypto';
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { parseJson } from '@asterism/machinery';
import type { DataDir } from './data-dir.ts';

export interface LeaderIdentity {
  /** Another for each process. */
  identity: string;
  /** Of the process that held this data directory before, and has ended. */
  formerIdentity: string | undefined;
}

/**
 * Who this process is in the leader's Lease: `name` and a random part. Finds out who the data directory's last process was: as
 * the lock is this one's now, that has ended, and a hub that was killed and started again need not wait for its own Lease to
 * run out. Not said of a directory that was copied, or of a time before the machine was started.
 */
export function takeIdentity(
  { identity: file, lockId }: Pick<DataDir, 'identity' | 'lockId'>,
  name: string,
): LeaderIdentity {
  const identity = `${name}_${randomUUID()}`;
  if (lockId === undefined) return { identity, formerIdentity: undefined };
  const formerIdentity = formerOf(file, lockId);
  try {
    writeFileSync(`${file}.new`, JSON.stringify({ identity, lock: lockId }), { mode: 0o600 });
    renameSync(`${file}.new`, file);
  } catch {
    // On a full disk the next process waits until the Lease runs out, as after a move to another machine.
    rmSync(file, { force: true });
  }
  return { identity, formerIdentity };
}

function formerOf(file: string, lockId: string): string | undefined {
  try {
    const { identity, lock } = parseJson(readFileSync(file, 'utf8')) as { identity?: unknown; lock?: unknown };
    return lock === lockId && typeof identity === 'string' ? identity : undefined;
  } catch {
    return undefined; // There was none, or it cannot be read: then it waits.
  }
}
