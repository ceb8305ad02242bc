import { type ListProgress, ReadLimitError } from '@asterism/client';
import { isStatusError } from '@asterism/machinery';

/** For how long a watch that fails with 5xx is tried again before it is worth a new list. */
const SERVER_ERROR_MS = 60_000;

/**
 * The states, and how they follow one another:
 *
 * - `Empty`: nothing is known (any more). Begins a list: → `InitPage` or `InitialWatch`.
 * - `InitPage`: within a list in pages; a page that fails is asked for again. → `InitListed` after the last one.
 * - `InitialWatch`: the list comes over the watch. → `Watching` within the same stream.
 * - `InitListed`, `Watching`: everything up to `resourceVersion` is known; a watch from there is to be opened (again).
 *   → `Empty` when the server no longer has the history, or not yet.
 */
export type WatchState =
  | { kind: 'Empty'; resourceVersion: string }
  | { kind: 'InitPage'; resourceVersion: string; continue: string | undefined; progress: ListProgress }
  | { kind: 'InitialWatch'; progress: ListProgress }
  | { kind: 'InitListed' | 'Watching'; resourceVersion: string };

export interface WatchFailure {
  error: unknown;
  /** The watch that failed had brought something. */
  progressed: boolean;
  /** For how long watches have been failing with 5xx. */
  serverErrorsMs: number;
}

/** Where a watcher goes on after a failure. */
export function stateAfterFailure(state: WatchState, { error, progressed, serverErrorsMs }: WatchFailure): WatchState {
  const code = isStatusError(error) ? error.code : undefined;
  if (state.kind === 'Empty') return state;
  if (state.kind === 'InitialWatch') return { kind: 'Empty', resourceVersion: '' };
  if (state.kind === 'InitPage') {
    // A list that does not end is not continued; it begins again.
    const isEndless = error instanceof ReadLimitError && error.limit === 'pages';
    return isEndless || code === 410 || isFromTheFuture(error) ? { kind: 'Empty', resourceVersion: '' } : state;
  }
  // The watch would bring the same object again. A list brings what was deleted meanwhile.
  if (error instanceof ReadLimitError && error.limit === 'held') return { kind: 'Empty', resourceVersion: '' };
  const { resourceVersion } = state;
  // A network error, or a watch that was told to come back later, resumes.
  if (code === undefined || code === 429) return state;
  if (isFromTheFuture(error)) return { kind: 'Empty', resourceVersion: '' };
  if (code >= 500) return serverErrorsMs < SERVER_ERROR_MS ? state : { kind: 'Empty', resourceVersion };
  // A 410 after events may be this watch's own trouble (too slow a reader): worth one try from where it was.
  return code === 410 && progressed ? state : { kind: 'Empty', resourceVersion };
}

/** Nothing came back, or that the server, or one behind it, is not able to. */
export function isNoAnswer(error: unknown): boolean {
  return isStatusError(error) ? error.code >= 500 : true;
}

/** The server has not reached this resourceVersion (504): it was restored from a backup, or lags behind another one. */
export function isFromTheFuture(error: unknown): boolean {
  if (!isStatusError(error)) return false;
  return (error.status.details?.causes ?? []).some(({ reason }) => reason === 'ResourceVersionTooLarge');
}
