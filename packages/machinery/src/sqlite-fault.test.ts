import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type SqliteFault, sqliteFault } from './sqlite-fault.ts';

const CASES: readonly (readonly [string, object, SqliteFault | undefined])[] = [
  ['SQLITE_ERROR', { errcode: 1 }, 'statement'],
  ['SQLITE_PERM', { errcode: 3 }, 'access'],
  ['SQLITE_BUSY', { errcode: 5 }, 'locked'],
  ['SQLITE_BUSY_RECOVERY', { errcode: 261 }, 'locked'],
  ['SQLITE_LOCKED', { errcode: 6 }, 'locked'],
  ['SQLITE_NOMEM', { errcode: 7 }, 'other'],
  ['SQLITE_READONLY_DIRECTORY', { errcode: 1544 }, 'access'],
  ['SQLITE_IOERR_WRITE', { errcode: 778 }, 'disk'],
  ['SQLITE_IOERR_SHMSIZE', { errcode: 4874 }, 'full'],
  ['SQLITE_CORRUPT', { errcode: 11 }, 'corrupt'],
  ['SQLITE_FULL', { errcode: 13 }, 'full'],
  ['SQLITE_CANTOPEN', { errcode: 14 }, 'access'],
  ['SQLITE_CONSTRAINT_CHECK', { errcode: 275 }, 'constraint'],
  ['SQLITE_NOTADB', { errcode: 26 }, 'corrupt'],
  ['ENOSPC', { code: 'ENOSPC', syscall: 'open' }, 'full'],
  ['EDQUOT', { code: 'EDQUOT', syscall: 'write' }, 'full'],
  ['EACCES', { code: 'EACCES', syscall: 'open' }, 'access'],
  ['any other error', {}, undefined],
];

for (const [name, properties, fault] of CASES) {
  test(`${name} is ${fault}`, () => assert.equal(sqliteFault(Object.assign(new Error(name), properties)), fault));
}
