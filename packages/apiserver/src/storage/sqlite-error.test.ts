import assert from 'node:assert/strict';
import { test } from 'node:test';
import { storageErrorOf } from './sqlite-error.ts';
import type { StorageErrorCode } from './storage-error.ts';

const CASES: readonly (readonly [string, object, StorageErrorCode, RegExp])[] = [
  ['SQLITE_FULL', { errcode: 13 }, 'FULL', /no space left to write x\.db: free some/],
  ['SQLITE_IOERR_SHMSIZE', { errcode: 4874 }, 'FULL', /no space left/],
  ['ENOSPC', { code: 'ENOSPC', syscall: 'open' }, 'FULL', /no space left/],
  ['EDQUOT', { code: 'EDQUOT', syscall: 'write' }, 'FULL', /no space left/],
  ['SQLITE_IOERR_WRITE', { errcode: 778 }, 'FAILED', /not known whether this was written: look at the disk/],
  ['SQLITE_READONLY', { errcode: 8 }, 'UNAVAILABLE', /cannot be opened for writing/],
  ['SQLITE_READONLY_DIRECTORY', { errcode: 1544 }, 'UNAVAILABLE', /cannot be opened for writing/],
  ['SQLITE_CANTOPEN', { errcode: 14 }, 'UNAVAILABLE', /check that its folder exists/],
  ['EACCES', { code: 'EACCES', syscall: 'open' }, 'UNAVAILABLE', /cannot be opened/],
  ['SQLITE_BUSY', { errcode: 5 }, 'LOCKED', /is in use by another process/],
  ['SQLITE_BUSY_RECOVERY', { errcode: 261 }, 'LOCKED', /is in use/],
  ['SQLITE_CORRUPT', { errcode: 11 }, 'CORRUPT', /restore it from a backup/],
  ['SQLITE_NOTADB', { errcode: 26 }, 'CORRUPT', /no database/],
  ['anything else', {}, 'FAILED', /x\.db: what it said/],
];

for (const [name, properties, code, says] of CASES) {
  test(`${name} is ${code}`, () => {
    const error = storageErrorOf(Object.assign(new Error('what it said'), properties), 'x.db');
    assert.equal(error.code, code);
    assert.match(error.message, says);
  });
}
