import { failure, type StatusError } from '@asterism/machinery';
import type { StorageError, StorageErrorCode } from './storage-error.ts';

/**
 * When a client tries again, in seconds. A full disk waits for a person: client-go tries ten times, so the person sees the error
 * after ten seconds.
 */
const RETRY_AFTER_SECONDS: Partial<Record<StorageErrorCode, number>> = { CLOSED: 5, LOCKED: 5, FULL: 1 };

/** As upstream answers when etcd cannot write, but that it says what to do. */
export function storageWriteError(error: StorageError): StatusError {
  if (error.code === 'FAILED') return failure(500, `the server cannot write: ${error.message}`, { cause: error });
  const retryAfterSeconds = RETRY_AFTER_SECONDS[error.code];
  const details = retryAfterSeconds === undefined ? {} : { retryAfterSeconds };
  return failure(503, `the server cannot write: ${error.message}`, { details, cause: error });
}
