import type { Logger } from '../log/logger.ts';

/**
 * Around one review.
 *
 * @example {@link HandlerError}
 */
export interface ReviewContext {
  /** Aborts when the API server no longer waits for the answer, and when the server stops. */
  signal: AbortSignal;
  logger: Logger;
}

/**
 * Answers the reviews that an API server posts to one path.
 *
 * @example {@link HandlerError}
 */
export interface Webhook {
  /** Begins with `/`; no query. */
  readonly path: string;
  /**
   * The review, as its JSON reads, with its answer in it.
   *
   * Rejects with a `StatusError` where it is no such review or nothing that this webhook is for, and with a
   * {@link HandlerError} where the code that was to decide failed.
   */
  answer(review: unknown, context: ReviewContext): Promise<object>;
}

/**
 * Code that was to decide failed: the API server goes by the `failurePolicy`. `about` names the review for a log.
 *
 * @example
 * ```ts
 * const webhook = createValidatingWebhook({ type: DEPLOYMENTS, validate });
 * await webhook.answer({ kind: 'AdmissionReview' }, { signal, logger }).catch((error: unknown) => {
 *   if (error instanceof HandlerError) logger.error({ err: error, uid: error.uid }, 'it could not decide');
 * });
 * ```
 */
export class HandlerError extends Error {
  override readonly name = 'HandlerError';
  readonly uid: string;
  readonly about: object;

  constructor(message: string, { uid, about, cause }: { uid: string; about: object; cause?: unknown }) {
    super(message, cause === undefined ? undefined : { cause });
    this.uid = uid;
    this.about = about;
  }
}
