import { expired, failure, type Status } from '@asterism/machinery';
import type { FailureOptions } from './fault.ts';

const MESSAGES: Record<number, string> = {
  429: 'Too many requests, please try again later.',
  500: 'Internal error occurred: a fault that a test asked for',
  503: 'the server is currently unable to handle the request',
  504: 'Timeout: request did not complete within the allotted timeout',
};

/** The Status of an injected failure: upstream's words, where the test has none of its own. */
export function failureOf({ code, reason, message, retryAfterSeconds }: FailureOptions): Status {
  const seconds = retryAfterSeconds ?? (code === 429 ? 1 : undefined);
  const extra = {
    ...(reason === undefined ? {} : { reason }),
    ...(seconds === undefined ? {} : { details: { retryAfterSeconds: seconds } }),
  };
  if (code !== 410) return failure(code, message ?? MESSAGES[code] ?? 'a fault that a test asked for', extra).status;
  const gone = message ?? 'The resourceVersion for the provided watch is too old.';
  return failure(code, gone, { ...extra, reason: reason ?? expired(gone).reason }).status;
}
