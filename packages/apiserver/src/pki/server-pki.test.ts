import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { openServerPki, publicKeyPin } from './server-pki.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

async function inFolder(run: (dir: string) => Promise<void>): Promise<void> {
  const dir = await mkdtemp(join(tmpdir(), 'pki-'));
  try {
    await run(join(dir, 'pki'));
  } finally {
    await rm(dir, { recursive: true });
  }
}

const options = (dir: string) => ({
  dir,
  commonName: 'test',
  hosts: ['localhost', '127.0.0.1'],
  admin: { commonName: 'admin', organizations: ['admins'] },
});

test('keys are made once, kept, and readable by their owner alone', () =>
  inFolder(async (dir) => {
    const first = await openServerPki(options(dir));
    assert.deepEqual(await openServerPki(options(dir)), first);
    for (const file of await readdir(dir)) assert.equal((await stat(join(dir, file))).mode & 0o777, 0o600, file);
    assert.equal((await stat(dir)).mode & 0o777, 0o700);
    assert.match(new X509Certificate(first.admin.cert).subject, /O=admins\nCN=admin/);
  }));

test('a certificate near its end, or without a host that is wanted, is issued anew by the same authority', () =>
  inFolder(async (dir) => {
    const first = await openServerPki(options(dir));
    const later = await openServerPki({ ...options(dir), now: Date.now() + 300 * DAY_MS });
    assert.deepEqual(later.ca, first.ca);
    assert.notEqual(later.serving.cert, first.serving.cert);
    const moved = await openServerPki({ ...options(dir), hosts: ['hub.example'] });
    assert.ok(new X509Certificate(moved.serving.cert).checkHost('hub.example'));
    assert.equal(moved.serviceAccountKey, first.serviceAccountKey);
  }));

test('a process that was killed between key and certificate leaves nothing that does not fit', () =>
  inFolder(async (dir) => {
    const first = await openServerPki(options(dir));
    await rm(join(dir, 'serving.crt'));
    await writeFile(join(dir, 'serving.key.new'), 'half');
    const again = await openServerPki(options(dir));
    assert.ok(new X509Certificate(again.serving.cert).verify(new X509Certificate(first.ca.cert).publicKey));
    assert.equal(await readFile(join(dir, 'serving.key'), 'utf8'), again.serving.key);
  }));

test('the pin is of the public key: it survives a certificate that is issued anew for the same key', () =>
  inFolder(async (dir) => {
    const { ca, serving } = await openServerPki(options(dir));
    assert.match(publicKeyPin(ca.cert), /^sha256:[0-9a-f]{64}$/);
    assert.notEqual(publicKeyPin(ca.cert), publicKeyPin(serving.cert));
  }));

const cut = (text: string): string => text.slice(0, text.length / 2);
/** One bit within the base64 of a PEM, so that it decodes to something else. */
const flip = (text: string): string => {
  const lines = text.trimEnd().split('\n');
  const line = lines.length - 2;
  const before = lines[line] ?? '';
  lines[line] = before.replace(/[A-Za-z](?=[^A-Za-z]*$|.{0,3}$)/, (letter) => (letter === 'A' ? 'B' : 'A'));
  return `${lines.join('\n')}\n`;
};

for (const [how, damage] of [
  ['cut', cut],
  ['empty', () => ''],
  ['flipped', flip],
] as const) {
  for (const file of ['ca.crt', 'ca.key', 'service-account.key']) {
    test(`${file} that is ${how} is named, and nothing is replaced`, () =>
      inFolder(async (dir) => {
        await openServerPki(options(dir));
        const text = await readFile(join(dir, file), 'utf8');
        await writeFile(join(dir, file), damage(text));
        await assert.rejects(openServerPki(options(dir)), (error) => {
          assert.ok(error instanceof Error);
          assert.ok(error.message.includes(`${join(dir, file)} is damaged`), error.message);
          assert.ok(
            !text.split('\n').some((line) => line.length > 20 && !line.startsWith('-') && error.message.includes(line)),
          );
          return true;
        });
        assert.equal(await readFile(join(dir, file), 'utf8'), damage(text));
      }));
  }

  for (const file of ['serving.crt', 'serving.key', 'admin.crt']) {
    test(`${file} that is ${how} is issued again by the same authority`, () =>
      inFolder(async (dir) => {
        const first = await openServerPki(options(dir));
        await writeFile(join(dir, file), damage(await readFile(join(dir, file), 'utf8')));
        const again = await openServerPki(options(dir));
        assert.deepEqual(again.ca, first.ca);
        assert.deepEqual(await openServerPki(options(dir)), again);
      }));
  }
}

for (const file of ['ca.crt', 'ca.key']) {
  test(`${file} that is missing is named, and no other authority is made`, () =>
    inFolder(async (dir) => {
      await openServerPki(options(dir));
      await rm(join(dir, file));
      await assert.rejects(openServerPki(options(dir)), { message: new RegExp(`${join(dir, file)} is missing`) });
    }));
}
