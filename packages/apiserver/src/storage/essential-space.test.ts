import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { reserveFile } from './disk-reserve.ts';
import { EssentialSpace } from './essential-space.ts';
import { fileSize } from './file-size.ts';
import type { SqliteConnection } from './sqlite-connection.ts';
import { StorageError } from './storage-error.ts';

const MIB = 1024 * 1024;
const folder = await mkdtemp(join(tmpdir(), 'apiserver-space-'));
after(() => rm(folder, { recursive: true, force: true }));
let files = 0;

/** Opens a database that finds no space until the reserve has given it `bytes`. */
function start(bytes: number, resources: DisposableStack) {
  const file = join(folder, `${files++}.db`);
  const space = new EssentialSpace({ file, reserve: { look: () => ({ total: 64 * MIB, free: 64 * MIB }) } }, () => {});
  space.open(resources);
  const connection = {} as SqliteConnection;
  const connect = (): SqliteConnection =>
    space.connect(() => {
      if (fileSize(reserveFile(file)) > MIB - bytes) throw new StorageError('FULL', 'no space');
      return connection;
    });
  return { connect, connection, left: () => fileSize(reserveFile(file)) };
}

describe('a database on a full disk is opened', () => {
  test('with space from the reserve, and no more than it needs', () => {
    using resources = new DisposableStack();
    const { connect, connection, left } = start(MIB / 2, resources);
    assert.equal(connect(), connection);
    assert.equal(left(), MIB / 2);
  });

  test('with all of the reserve', () => {
    using resources = new DisposableStack();
    const { connect, connection, left } = start(MIB, resources);
    assert.equal(connect(), connection);
    assert.equal(left(), 0);
  });

  test('not at all where the reserve is not enough', () => {
    using resources = new DisposableStack();
    assert.throws(start(2 * MIB, resources).connect, { code: 'FULL' });
  });
});

test('another failure leaves the reserve alone', () => {
  using resources = new DisposableStack();
  const file = join(folder, `${files++}.db`);
  const space = new EssentialSpace({ file, reserve: { look: () => ({ total: 64 * MIB, free: 64 * MIB }) } }, () => {});
  space.open(resources);
  assert.throws(() => space.connect(() => assert.fail('damaged')), /damaged/);
  assert.equal(fileSize(reserveFile(file)), MIB);
});
