import type { Change, WriteOutcome } from './storage.ts';

/** A write that waits for its commit, and its caller. */
export interface QueuedWrite {
  changes: readonly Change[];
  resolve: (outcome: WriteOutcome) => void;
  reject: (error: unknown) => void;
  outcome?: WriteOutcome | undefined;
}
