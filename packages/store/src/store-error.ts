/**
 * Why the store said no.
 *
 * - `LOCKED`: another process has the database open.
 * - `CORRUPT`: the file is damaged, or no database.
 * - `FOREIGN`: the file is a database of something else.
 * - `NEWER_SCHEMA`: a newer program wrote it.
 * - `NO_SPACE`, `NO_ACCESS`: the disk or its permissions.
 * - `INVALID_QUERY`, `INVALID_CONTINUE`, `INVALID_ROW`: the caller's mistake; the message names the part.
 * - `TOO_COSTLY`: a query took longer than one may.
 * - `OVER_SHARE`: a cluster has more rows or bytes than its share; nothing of the write was stored.
 * - `SUPERSEDED`: a later replacement of the same source began; this one has no say any more.
 * - `CLOSED`: the store was closed.
 * - `FAILED`: anything else; see `cause`.
 */
export type StoreErrorCode =
  | 'LOCKED'
  | 'CORRUPT'
  | 'FOREIGN'
  | 'NEWER_SCHEMA'
  | 'NO_SPACE'
  | 'NO_ACCESS'
  | 'INVALID_QUERY'
  | 'INVALID_CONTINUE'
  | 'INVALID_ROW'
  | 'TOO_COSTLY'
  | 'OVER_SHARE'
  | 'SUPERSEDED'
  | 'CLOSED'
  | 'FAILED';

export class StoreError extends Error {
  override readonly name = 'StoreError';
  readonly code: StoreErrorCode;

  constructor(code: StoreErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

export function isStoreError(error: unknown, code?: StoreErrorCode): error is StoreError {
  return error instanceof StoreError && (code === undefined || error.code === code);
}
