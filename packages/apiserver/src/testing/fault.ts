import type { StatusReason } from '@asterism/machinery';

/**
 * A failure as the API tells it. What is left out is what upstream says with that code.
 *
 * @example {@link startTestServer}
 */
export interface FailureOptions {
  /** 410, 429, 500, 503 … From 400 on. */
  code: number;
  reason?: StatusReason;
  message?: string;
  /** Seconds. Default 1 for 429 (without it a client may come again at once), none for others. */
  retryAfterSeconds?: number;
}

/**
 * What can go wrong within an answer: with a watch that is open, or with any answer from its beginning.
 *
 * @example {@link startTestServer}
 */
export type AnswerFault =
  /** A watch, opened with 200, gets an `ERROR` event and ends, as when its history is gone. Any other answer is that failure. */
  | ({ kind: 'error-event' } & FailureOptions)
  /**
   * Of the next event, or of the body, the first half comes. Then the stream is reset (the default), or ends as if that were all,
   * which is what a proxy may make of it.
   */
  | { kind: 'half-frame'; ending?: 'reset' | 'end' }
  /** Nothing more comes, though the connection is well and answers PINGs. What is held back comes when the fault is lifted. */
  | { kind: 'silence' }
  /**
   * The answer leaves as slowly as if its reader took so many bytes a second. What happens meanwhile is kept for it, until it is too
   * much (4,096 events or 16 MiB): then the server ends the watch.
   */
  | { kind: 'slow-reader'; bytesPerSecond: number }
  /** The TCP connection is reset, and with it everything else that it carries. */
  | { kind: 'reset' }
  /** A watch ends in good order, as it does after its `timeoutSeconds`. */
  | { kind: 'end' };

/**
 * What can go wrong with a request.
 *
 * @example {@link startTestServer}
 */
export type RequestFault =
  /** It is not worked on, and answered with a failure. */
  | ({ kind: 'status' } & FailureOptions)
  /** It is worked on, and then the connection is reset: whoever wrote cannot know whether that was done. */
  | { kind: 'lost-answer' }
  /** `silence` leaves it unanswered and `reset` resets its connection, both before it is worked on; the rest befalls the answer. */
  | AnswerFault;

/**
 * A fault that is there until it is lifted.
 *
 * @example {@link startTestServer}
 */
export interface Injected extends Disposable {
  /** How many requests or watches it has hit. */
  readonly hits: number;
  /** Resolves when it has hit so many (default 1). */
  hit(count?: number): Promise<void>;
  /** Ends it: no more is hit, and what it held back goes on. What was done is not undone. */
  lift(): void;
}
