import { failure, quoteGo, type Status, StatusError } from '@asterism/machinery';

/** A webhook could not be asked, or answered nonsense: what becomes of the request says its `failurePolicy`. */
export class WebhookFailure extends Error {
  override readonly name = 'WebhookFailure';
  /** What upstream's metrics have as the code of such a failure. */
  readonly code: number;
  /** The request was given up, by its client or by the server's end. */
  readonly isCanceled: boolean;

  constructor(webhook: string, why: string, { code = 503, isCanceled = false } = {}) {
    super(`failed calling webhook ${quoteGo(webhook)}: ${why}`);
    this.code = code;
    this.isCanceled = isCanceled;
  }
}

/** 500 in the words of upstream's `NewInternalError`. */
export function internalError(message: string): StatusError {
  return failure(500, `Internal error occurred: ${message}`, { details: { causes: [{ message }] } });
}

/** 504 for a request that nobody waits for any more. */
export function requestTimedOut(): StatusError {
  return failure(504, 'Timeout: request did not complete within requested timeout', { details: {} });
}

/** The Status of a webhook that said no: what it gave, as far as that is a failure. */
export function denial(webhook: string, result: Partial<Status> = {}): StatusError {
  const denied = `admission webhook ${quoteGo(webhook)} denied the request`;
  const why = result.message || result.reason;
  const { status = '', code = 0, reason, details } = result;
  return new StatusError({
    kind: 'Status',
    apiVersion: 'v1',
    metadata: result.metadata ?? {},
    status: status === 'Success' || !status ? 'Failure' : status,
    message: why ? `${denied}: ${why}` : `${denied} without explanation`,
    ...(reason ? { reason } : {}),
    ...(details ? { details } : {}),
    code: Math.max(code, 400),
  });
}

/** 400: the webhook may change something outside, and a dry run must not. */
export function dryRunUnsupported(webhook: string): StatusError {
  return failure(400, `admission webhook ${quoteGo(webhook)} does not support dry run`);
}
