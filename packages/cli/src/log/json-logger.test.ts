import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { hasControls } from '@asterism/machinery';
import { fileLogger } from './json-logger.ts';

describe('the log in a file', () => {
  let dir: string;

  before(async () => {
    dir = await mkdtemp(join(tmpdir(), 'asterism-log-'));
  });
  after(() => rm(dir, { recursive: true }));

  test('is JSON lines that only their owner reads', async () => {
    const file = join(dir, 'logs', 'hub.log');
    const logger = fileLogger(file);
    logger.child({ controller: 'works' }).info({ name: 'web' }, 'placed');
    const { controller, name, msg } = JSON.parse(await readFile(file, 'utf8')) as Record<string, unknown>;
    assert.deepEqual({ controller, name, msg }, { controller: 'works', name: 'web', msg: 'placed' });
    assert.equal((await stat(file)).mode & 0o777, 0o600);
  });

  test('holds no control character, and says the same', async () => {
    const file = join(dir, 'logs', 'member.log');
    const name = '\u001b]0;t\u0007\u009b31m\u202e\u2028\u007f';
    fileLogger(file).info({ name }, name);
    const text = await readFile(file, 'utf8');
    assert.ok(!hasControls(text), text);
    const line = JSON.parse(text) as Record<string, unknown>;
    assert.deepEqual([line['name'], line['msg']], [name, name]);
  });

  // `/dev/full` refuses every write with ENOSPC, as a full disk does.
  test('a full disk stops nobody who logs', { skip: process.platform !== 'linux' }, async () => {
    const full = fileLogger('/dev/full');
    full.warn({}, 'nowhere to write this');
    full.warn({}, 'nor this');
  });
});
