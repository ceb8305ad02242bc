/**
 * `LOCKED`: another process has the database. `CORRUPT`: it is not a database, or a damaged one. `NEWER`: a later release
 * wrote it. `UNAVAILABLE`: it cannot be opened (permissions, missing folder). `FULL`: no space. `FAILED`: anything else.
 * `CLOSED`: used after `close`.
 */
export type StorageErrorCode = 'LOCKED' | 'CORRUPT' | 'NEWER' | 'UNAVAILABLE' | 'FULL' | 'FAILED' | 'CLOSED';

/** Why the database could not do it. The message names the file and what to do next. */
export class StorageError extends Error {
  override readonly name = 'StorageError';
  readonly code: StorageErrorCode;

  constructor(code: StorageErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
