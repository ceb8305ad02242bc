import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { CommandError, EXIT } from '../exit-code.ts';
import type { Terminal } from '../output/terminal.ts';
import { backup, restore } from './backup.ts';

const root = await mkdtemp(join(tmpdir(), 'asterism-cli-backup-'));
after(() => rm(root, { recursive: true, force: true }));

/** A terminal that remembers. */
function recording() {
  const printed: string[] = [];
  const terminal = { out: (text: string) => printed.push(text) } as unknown as Terminal;
  return { terminal, printed };
}

/** What a hub on a kube-apiserver keeps whose templates are there too: keys alone. */
async function dataDirOfKeys(name: string): Promise<string> {
  const dataDir = join(root, name);
  await mkdir(join(dataDir, 'pki'), { recursive: true });
  for (const file of ['ca.crt', 'ca.key', 'ca.key.new']) await writeFile(join(dataDir, 'pki', file), file);
  return dataDir;
}

const isCommandError = (exitCode: number, says: RegExp) => (error: unknown) => {
  assert.ok(error instanceof CommandError, String(error));
  assert.equal(error.exitCode, exitCode);
  assert.match(error.message, says);
  return true;
};

describe('aster backup and aster restore', () => {
  test('say what they did, in whole paths, and make the folders that a restore needs', async () => {
    const dataDir = await dataDirOfKeys('keys');
    const { terminal, printed } = recording();
    assert.equal(await backup(join(root, 'b'), { dataDir }, terminal), EXIT.fine);
    assert.equal(await restore(join(root, 'b'), { dataDir: join(root, 'new', 'hub') }, terminal), EXIT.fine);
    assert.deepEqual(printed, [
      `backed up 2 keys and certificates in ${root}/b\n`,
      `restored 2 keys and certificates to ${root}/new/hub\n`,
    ]);
    assert.equal((await stat(join(root, 'new', 'hub', 'pki'))).mode & 0o777, 0o700);
    assert.deepEqual(await readdir(join(root, 'new', 'hub', 'pki')), ['ca.crt', 'ca.key']);
  });

  test('end with one line where they cannot', async () => {
    const dataDir = await dataDirOfKeys('more');
    const { terminal, printed } = recording();
    const cases: [Promise<unknown>, number, RegExp][] = [
      [backup('', { dataDir }, terminal), EXIT.usage, /name of the backup is empty/],
      [backup(join(root, 'c'), { dataDir: '' }, terminal), EXIT.usage, /--data-dir: it is empty/],
      [backup(root, { dataDir }, terminal), EXIT.error, /exists already/],
      [
        backup(join(root, 'c'), { dataDir: join(root, 'nowhere') }, terminal),
        EXIT.error,
        /is no data directory of a hub/,
      ],
      [restore(dataDir, { dataDir: join(root, 'd') }, terminal), EXIT.error, /is no backup/],
    ];
    for (const [outcome, exitCode, says] of cases) await assert.rejects(outcome, isCommandError(exitCode, says));
    assert.deepEqual(printed, []);
  });
});
