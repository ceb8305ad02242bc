import { type HistoryBounds, type HistoryEntry, HistoryWindow } from './history-window.ts';
import type { Committed, Contents } from './storage.ts';

interface LoggedChange extends HistoryEntry {
  readonly revision: number;
}

/** The log is cut after so many changes or bytes, not after each: a cut costs a statement. */
const CUT_EVERY = { changes: 500, bytes: 4 * 1024 * 1024 };
/** Changes that one commit cuts at most: more would keep everything else waiting. */
const CUT_AT_MOST = 1000;
/** Changes that each commit on a full disk cuts: this gives space within the file, but each cut writes the pages that it frees. */
const CUT_WHEN_FULL = 20;

/** Counts the changes that the database keeps of the past, and decides when it deletes the oldest. */
export class ChangeLog {
  readonly #kept: HistoryWindow<LoggedChange>;
  #sinceCut = { changes: 0, bytes: 0 };
  /** The log up to here is not needed any more, and not yet cut. */
  #cutBefore = 0;

  constructor(bounds: HistoryBounds) {
    this.#kept = new HistoryWindow(bounds);
  }

  /** Takes the log as the database had it when it was opened. */
  restore({ history, compacted }: Pick<Contents, 'history' | 'compacted'>): void {
    for (const { revision, time, previous } of history) {
      this.#kept.push({ revision, time, bytes: previous?.length ?? 0 });
    }
    // The next commit deletes a log that nobody reads any more.
    if (history.length === 0) this.#cutBefore = compacted;
  }

  add(committed: readonly Committed[], time: number): void {
    if (committed.length === 0) return;
    for (const { revision, value, change } of committed) {
      // An object before the change is about as long as after it; a new one was nothing.
      const bytes = change?.expected === 0 ? 0 : value.length;
      this.#kept.push({ revision, time, bytes });
      this.#sinceCut.bytes += bytes;
    }
    this.#sinceCut.changes += committed.length;
    this.#cutBefore = 0;
  }

  /** The revision up to which this commit cuts the log, or undefined for not now. */
  nextCut(now: number, isDiskFull: boolean): number | undefined {
    if (isDiskFull) {
      const last = this.#kept.expire(Number.POSITIVE_INFINITY, CUT_WHEN_FULL).at(-1);
      this.#cutBefore = last?.revision ?? this.#cutBefore;
      return this.#cutBefore || undefined;
    }
    const { changes, bytes } = this.#sinceCut;
    if (changes >= CUT_EVERY.changes || bytes >= CUT_EVERY.bytes) {
      const expired = this.#kept.expire(now, CUT_AT_MOST);
      this.#cutBefore = expired.at(-1)?.revision ?? this.#cutBefore;
      if (expired.length < CUT_AT_MOST) this.#sinceCut = { changes: 0, bytes: 0 };
    }
    return this.#cutBefore || undefined;
  }
}
