import { closeSync, existsSync, openSync, readSync, statSync } from 'node:fs';
import { StorageError } from './storage-error.ts';

/** https://www.sqlite.org/fileformat2.html#the_database_header */
const HEADER_BYTES = 100;
const FORMAT_VERSIONS = { write: 18, read: 19 };
/** Of SQLite's formats, 1 is the rollback journal and 2 the write-ahead log. */
const LATEST_FORMAT = 2;

/**
 * Throws `CORRUPT` for a header that SQLite takes for that of a later version of itself: it would open the file, and call it
 * read-only. To be called before this process opens the file: to close it would end the locks on it.
 */
export function checkHeader(file: string): void {
  if (!existsSync(file) || statSync(file).size < HEADER_BYTES) return;
  const header = Buffer.alloc(HEADER_BYTES);
  const handle = openSync(file, 'r');
  try {
    readSync(handle, header, 0, HEADER_BYTES, 0);
  } finally {
    closeSync(handle);
  }
  if (header.toString('latin1', 0, 15) !== 'SQLite format 3') return; // SQLite says so itself.
  const versions = [header[FORMAT_VERSIONS.write] ?? 0, header[FORMAT_VERSIONS.read] ?? 0];
  if (versions.every((version) => version >= 1 && version <= LATEST_FORMAT)) return;
  throw new StorageError(
    'CORRUPT',
    `${file} is damaged (its header names format ${versions.join('/')}): restore it from a backup`,
  );
}
