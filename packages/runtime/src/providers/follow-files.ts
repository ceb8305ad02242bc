import { type Clock, sleep, unlessAborted } from '@asterism/client';
import { LinkedAbort } from '../waiting/linked-abort.ts';
import type { Logger } from '../log/logger.ts';
import { FolderWatches } from './folder-watches.ts';

export interface FollowFilesOptions {
  /** Reads everything; resolves with the folders in which a change means that it must be read again. */
  scan: () => Promise<ReadonlySet<string>>;
  /** How often to read where no change is told, in ms. */
  rereadMs: number;
  clock: Clock;
  logger: Logger;
  signal: AbortSignal;
}

/** Changes come in several steps: how long to wait for the rest. */
const SETTLE_MS = 100;

/**
 * Scans now, whenever something changes, and every `rereadMs`; scans never overlap. Resolves when the signal aborts, also where
 * a disk does not answer.
 */
export async function followFiles({ scan, rereadMs, clock, logger, signal }: FollowFilesOptions): Promise<void> {
  let changed = new AbortController();
  using folders = new FolderWatches(() => changed.abort(), logger);
  const read = async (): Promise<boolean> => folders.follow(await scan());
  try {
    for (;;) {
      changed = new AbortController();
      const isNew = await unlessAborted(read(), signal); // What was read before it was watched may be old.
      using wait = new LinkedAbort(signal, changed.signal);
      if (!isNew) await sleep(clock, rereadMs, wait.signal).catch(() => {});
      if (isNew || changed.signal.aborted) await sleep(clock, SETTLE_MS, signal);
      signal.throwIfAborted();
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
