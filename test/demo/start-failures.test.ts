// Runs beside other tests: it waits for `aster` processes.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { cp, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { AUTHORITY } from '../../packages/cli/src/testing/hub-certificates.ts';
import { ASTER, AsterUp, temporaryDataDir } from './aster-up.ts';

interface Outcome {
  code: number | null;
  stderr: string;
}

async function aster(args: readonly string[], node: readonly string[] = ASTER): Promise<Outcome> {
  const child = spawn(process.execPath, [...node, ...args], {
    stdio: ['ignore', 'ignore', 'pipe'],
    timeout: 60_000,
  });
  let stderr = '';
  child.stderr.on('data', (text) => (stderr += String(text)));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, stderr };
}

/** One line that says what, where and what to do: no stack, and the exit code of an error. */
function assertExplained({ code, stderr }: Outcome, message: RegExp): void {
  assert.equal(code, 1, stderr);
  assert.match(stderr, message);
  assert.doesNotMatch(stderr, /^\s+at /m);
}

const up = (dataDir: string, listen = '127.0.0.1:0') =>
  aster(['up', '--data-dir', dataDir, '--listen', listen, '--members', '0']);

test('a port that is taken', async () => {
  await using dir = await temporaryDataDir();
  await using server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  assertExplained(await up(dir.path, `127.0.0.1:${port}`), new RegExp(`127\\.0\\.0\\.1:${port}.*--listen`, 's'));
});

test('a second hub on one data dir names the first one', async () => {
  await using dir = await temporaryDataDir();
  await using first = new AsterUp(dir.path, ['--members', '0']);
  await first.ready();
  const outcome = await up(dir.path);
  assertExplained(outcome, new RegExp(`${dir.path}.*${first.pid}`, 's'));
});

test('a data dir that is a file', async () => {
  await using dir = await temporaryDataDir();
  const file = join(dir.path, 'file');
  await writeFile(file, '');
  assertExplained(await up(file), new RegExp(`${file}.*--data-dir`, 's'));
});

test('a data dir where no folder can be made', { skip: existsSync('/proc/self') ? false : 'no /proc' }, async () => {
  assertExplained(await up('/proc/asterism/data'), /\/proc\/asterism\/data.*--data-dir/s);
});

for (const name of ['hub.db', 'search.db']) {
  test(`a ${name} that is no database`, async () => {
    await using dir = await temporaryDataDir();
    await writeFile(join(dir.path, name), 'this is no database, but it is long enough to be taken for one'.repeat(20));
    assertExplained(await up(dir.path), new RegExp(`${name} is damaged or no database.*move it away`));
  });
}

test('wrong usage ends with 2 and says what would be right', async () => {
  for (const args of [
    ['up', '--listen', 'here'],
    ['up', '--members', 'many'],
    ['up', '--no-such-flag'],
    ['nonsense'],
  ]) {
    const { code, stderr } = await aster(args);
    assert.equal(code, 2, args.join(' '));
    assert.match(stderr, new RegExp(args.at(-1)?.replace('--', '') ?? ''), stderr);
  }
});

test('a kubeconfig that does not verify whom it leads to: nobody joins by it, and no agent or hub runs', async () => {
  await using dir = await temporaryDataDir();
  const write = async (name: string, cluster: object): Promise<string> => {
    const text = JSON.stringify({
      'current-context': 'there',
      clusters: [{ name: 'edge', cluster: { server: 'https://127.0.0.1:1', ...cluster } }],
      contexts: [{ name: 'there', context: { cluster: 'edge', user: 'me' } }],
      users: [{ name: 'me', user: { token: 'a-token' } }],
    });
    const file = join(dir.path, name);
    await writeFile(file, text);
    return file;
  };
  const careless = await write('careless', { 'insecure-skip-tls-verify': true });
  const careful = await write('careful', { 'certificate-authority-data': Buffer.from(AUTHORITY).toString('base64') });
  const pin = `sha256:${'0a'.repeat(32)}`;
  const toHub = ['--name', 'edge-1', '--hub', 'https://127.0.0.1:1'];
  await Promise.all(
    [
      ['join', '--kubeconfig', careless, ...toHub, '--ca-hash', pin, '--token', 'abcdef.0123456789abcdef'],
      ['join', '--push', '--kubeconfig', careless, '--hub-kubeconfig', careful, '--name', 'edge-1'],
      ['join', '--push', '--kubeconfig', careful, '--hub-kubeconfig', careless, '--name', 'edge-1'],
      ['agent', '--kubeconfig', careless, ...toHub, '--hub-ca', pin, '--mode', 'pull'],
      ['hub', '--kubeconfig', careless, '--data-dir', join(dir.path, 'hub'), '--listen', '127.0.0.1:0'],
    ].map(async (args) => {
      const { code, stderr } = await aster(args);
      assert.equal(code, 2, `${args.join(' ')}: ${stderr}`);
      assert.match(
        stderr,
        /careless, context "there": its cluster "edge" says insecure-skip-tls-verify: .*authority-data/,
      );
    }),
  );
});

test('a Node that is too old, with no newer one at hand', async () => {
  await using dir = await temporaryDataDir();
  const bin = join(dir.path, 'bin', 'aster.js');
  await cp(ASTER.at(-1) ?? '', bin);
  await writeFile(join(dir.path, 'package.json'), '{"type":"module"}');
  const old = join(dir.path, 'old.js');
  await writeFile(
    old,
    "Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.1.0' } });\n",
  );
  assertExplained(await aster(['version'], ['--import', old, bin]), /needs Node\.js 24 or newer.*npm install node@24/s);
});

test('no key or token can be read by others, and none is in a log', async () => {
  await using dir = await temporaryDataDir();
  await using run = new AsterUp(dir.path, ['--members', '1'], { ASTERISM_LOG_LEVEL: 'debug' });
  await run.ready();
  const secrets: string[] = [];
  for (const entry of await readdir(dir.path, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const file = join(entry.parentPath, entry.name);
    const isSecret = /\.key$|token$|^kubeconfig$/.test(entry.name);
    if (isSecret || /\.db/.test(entry.name)) assert.equal((await stat(file)).mode & 0o077, 0, file);
    if (/\.key$|token$/.test(entry.name))
      secrets.push(
        ...(await readFile(file, 'utf8')).split('\n').filter((line) => line.length > 40 && !line.startsWith('-----')),
      );
  }
  assert.ok(secrets.length >= 5, 'there are keys and a token');
  for (const name of await readdir(join(dir.path, 'logs'))) {
    const log = await readFile(join(dir.path, 'logs', name), 'utf8');
    for (const secret of secrets) assert.ok(!log.includes(secret), name);
    assert.doesNotMatch(log, /PRIVATE KEY|\b[a-z0-9]{6}\.[a-z0-9]{16}\b/, name);
  }
  for (const secret of secrets) assert.ok(!(run.stdout + run.stderr).includes(secret));
});
