import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { openDataDir } from './data-dir.ts';
import { takeIdentity } from './take-identity.ts';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'asterism-identity-'));
});

afterEach(() => rmSync(folder, { recursive: true }));

async function identityIn(name: string) {
  using dataDir = await openDataDir(join(folder, name));
  return takeIdentity(dataDir, 'me');
}

test('each process is another, and knows who was there before', { skip: process.platform !== 'linux' }, async () => {
  const first = await identityIn('data');
  const second = await identityIn('data');
  assert.equal(first.formerIdentity, undefined);
  assert.equal(second.formerIdentity, first.identity);
  assert.notEqual(second.identity, first.identity);
  assert.match(second.identity, /^me_/);
});

test('a copy of the folder knows of nobody: the first may still run', async () => {
  await identityIn('data');
  cpSync(join(folder, 'data'), join(folder, 'copy'), { recursive: true });
  assert.equal((await identityIn('copy')).formerIdentity, undefined);
});

test('without a way to tell locks apart nobody is taken for dead', async () => {
  using dataDir = await openDataDir(join(folder, 'data'));
  const unknown = { ...dataDir, lockId: undefined };
  takeIdentity(unknown, 'me');
  assert.equal(takeIdentity(unknown, 'me').formerIdentity, undefined);
});
