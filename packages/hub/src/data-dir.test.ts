import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { openDataDir } from './data-dir.ts';
import { HubError, type HubErrorCode } from './hub-error.ts';

const root = mkdtempSync(join(tmpdir(), 'asterism-data-dir-'));
after(() => rmSync(root, { recursive: true, force: true }));

const isHubError = (code: HubErrorCode, says: RegExp) => (error: unknown) => {
  assert.ok(error instanceof HubError, String(error));
  assert.equal(error.code, code);
  assert.match(error.message, says);
  return true;
};

describe('the data directory', () => {
  test('is made for this user alone, and free again when it is let go', async () => {
    const path = join(root, 'new', 'dir');
    for (let time = 0; time < 2; time += 1) {
      using dir = await openDataDir(path);
      assert.equal(dir.path, path);
      assert.equal(statSync(path).mode & 0o777, 0o700);
      assert.equal(statSync(join(path, 'lock')).mode & 0o777, 0o600);
    }
  });

  test('belongs to one hub at a time: the second is told which process has it', async () => {
    const path = join(root, 'taken');
    using _ = await openDataDir(path);
    await assert.rejects(
      openDataDir(path),
      isHubError('DataDirLocked', new RegExp(`process ${process.pid}.*--data-dir`)),
    );
  });

  test('is free as soon as a hub was killed, whatever files it left', async () => {
    const path = join(root, 'killed');
    const program = `const { openDataDir } = await import(${JSON.stringify(new URL('./data-dir.ts', import.meta.url).href)});
      await openDataDir(${JSON.stringify(path)}); process.stdout.write('taken'); setInterval(() => {}, 1000);`;
    const child = spawn(process.execPath, ['--conditions=asterism-source', '--input-type=module', '-e', program], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await once(child.stdout, 'data');
    await assert.rejects(openDataDir(path), isHubError('DataDirLocked', new RegExp(`process ${child.pid}`)));
    child.kill('SIGKILL');
    await once(child, 'exit');
    (await openDataDir(path))[Symbol.dispose]();
  });

  test('that cannot be made says so', async () => {
    writeFileSync(join(root, 'file'), '');
    await assert.rejects(openDataDir(join(root, 'file', 'dir')), isHubError('DataDirUnusable', /ENOTDIR.*--data-dir/));
  });

  test('that cannot be written says so', {
    skip: process.getuid?.() === 0 && 'root may write everywhere',
  }, async () => {
    const path = join(root, 'closed');
    (await openDataDir(path))[Symbol.dispose]();
    chmodSync(path, 0o500);
    await assert.rejects(openDataDir(path), isHubError('DataDirUnusable', /EACCES/));
    chmodSync(path, 0o700);
  });
});
