import assert from 'node:assert/strict';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { TLSSocket } from 'node:tls';
import { ClientError } from './client-error.ts';
import type { Connection } from './connection.ts';
import { createCredentialSource } from './credential.ts';
import { createTransport } from './http/http-transport.ts';
import { ExecCredentialCache } from './kubeconfig/exec-credential.ts';
import type { ExecConfig } from './kubeconfig/kubeconfig.ts';
import { ALICE_CERT, ALICE_KEY, AUTHORITY } from './testing/certificates.ts';
import { reply, startFakeServer } from './testing/fake-server.ts';
import { ManualClock } from './testing/manual-clock.ts';

let folder: string;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'client-credential-'));
});
after(() => rm(folder, { recursive: true }));

const server = 'https://cluster.test';
const V1 = 'client.authentication.k8s.io/v1';
const API_VERSION = { apiVersion: V1, kind: 'ExecCredential' };

/** A plugin that notes each run and prints what the file `answer` holds, with the run's number for `$N`. */
async function plugin(
  name: string,
  answer: unknown,
): Promise<{ exec: ExecConfig; runs(): Promise<number>; answer(next: unknown): Promise<void> }> {
  const path = join(folder, name);
  const write = (next: unknown): Promise<void> =>
    writeFile(`${path}.answer`, typeof next === 'string' ? next : JSON.stringify(next));
  await write(answer);
  await writeFile(
    path,
    `#!/bin/sh\necho "$KUBERNETES_EXEC_INFO $1 $EXTRA" >> ${path}.runs\nN=$(wc -l < ${path}.runs | tr -d ' ')\nsed "s/[$]N/$N/" ${path}.answer\n`,
  );
  await chmod(path, 0o700);
  return {
    exec: { apiVersion: V1, command: path },
    runs: async () => (await readFile(`${path}.runs`, 'utf8').catch(() => '')).split('\n').length - 1,
    answer: write,
  };
}

function source(
  exec: ExecConfig,
  { clock = new ManualClock(), cache = new ExecCredentialCache(clock), at = server } = {},
) {
  return createCredentialSource({ server: at, credential: { kind: 'exec', exec } }, clock, cache);
}

describe('a token file', () => {
  test('is read again after a minute, and when its token was refused', async () => {
    const path = join(folder, 'token');
    const clock = new ManualClock();
    const cache = new ExecCredentialCache(clock);
    const tokens = createCredentialSource({ server, credential: { kind: 'tokenFile', path } }, clock, cache);
    await assert.rejects(tokens.current(), { code: 'ERR_TOKEN_FILE', message: /cannot read the token file/ });
    await writeFile(path, ' one\n');
    assert.deepEqual(await tokens.current(), { token: 'one' });
    await writeFile(path, 'two');
    clock.advance(59_999);
    assert.deepEqual(await tokens.current(), { token: 'one' });
    clock.advance(1);
    assert.deepEqual(await tokens.current(), { token: 'two' });
    await writeFile(path, 'three');
    await tokens.refused(await tokens.current());
    assert.deepEqual(await tokens.current(), { token: 'three' });
  });

  const read = (path: string, more: object = {}) => {
    const clock = new ManualClock();
    const cache = new ExecCredentialCache(clock);
    const tokens = createCredentialSource({ server, credential: { kind: 'tokenFile', path, ...more } }, clock, cache);
    return { clock, tokens };
  };

  test('that cannot be read, or is empty, for a moment or for ever: the last token is used', async () => {
    const path = join(folder, 'fleeting');
    const { clock, tokens } = read(path);
    await writeFile(path, 'one');
    assert.deepEqual(await tokens.current(), { token: 'one' });
    for (const [spoil, next] of [
      [() => rm(path), 'two'],
      [() => writeFile(path, ''), 'three'],
      [() => writeFile(path, ' \n'), 'four'],
    ] as const) {
      const before = await tokens.current();
      await spoil();
      for (const ms of [60_000, 1_000, 86_400_000]) {
        clock.advance(ms);
        assert.deepEqual(await tokens.current(), before);
      }
      await tokens.refused(before);
      assert.deepEqual(await tokens.current(), before, 'refused, and there is no other');
      await writeFile(path, next);
      clock.advance(1_000);
      assert.deepEqual(await tokens.current(), { token: next }, 'it is back');
    }
  });

  test('next to a token: the token is used while the file cannot be read', async () => {
    const path = join(folder, 'later');
    const { clock, tokens } = read(path, { token: 'given' });
    assert.deepEqual(await tokens.current(), { token: 'given' });
    await writeFile(path, 'filed');
    clock.advance(1_000);
    assert.deepEqual(await tokens.current(), { token: 'filed' });
  });

  test('is read when it is due, however often somebody sets the wall clock back', async () => {
    const path = join(folder, 'set-back');
    const { clock, tokens } = read(path);
    await writeFile(path, 'one');
    assert.deepEqual(await tokens.current(), { token: 'one' });
    await writeFile(path, 'two');
    clock.setWall(-86_400_000);
    clock.advance(60_000);
    assert.deepEqual(await tokens.current(), { token: 'two' });
  });
});

describe('a token and a certificate', () => {
  test('both go along', async () => {
    await using fake = await startFakeServer(
      ({ headers, socket }, response) => {
        const { subject } = (socket as TLSSocket).getPeerCertificate();
        reply(response, [subject?.CN, headers.authorization]);
      },
      { tls: { requestCert: true, rejectUnauthorized: false, ca: AUTHORITY } },
    );
    const path = join(folder, 'both');
    await writeFile(path, 'from a file');
    const certificate = { cert: ALICE_CERT, key: ALICE_KEY };
    for (const [credential, token] of [
      [{ kind: 'token', token: 't', certificate }, 't'],
      [{ kind: 'tokenFile', path, certificate }, 'from a file'],
    ] as const) {
      await using transport = createTransport(fake.connection(credential));
      const { body } = await transport.request({ method: 'GET', path: '/' });
      assert.deepEqual(JSON.parse(Buffer.concat(await body.toArray()).toString()), ['alice', `Bearer ${token}`]);
    }
  });
});

describe('a credential plugin', () => {
  test('runs once for all who ask at the same time, and again shortly before its credential expires', async () => {
    const clock = new ManualClock();
    const expirationTimestamp = new Date(clock.wall().getTime() + 60_000).toISOString();
    const { exec, runs, answer } = await plugin('expires', {
      ...API_VERSION,
      status: { token: 'run $N', expirationTimestamp },
    });
    const tokens = source(exec, { clock });
    const all = await Promise.all([1, 2, 3].map(() => tokens.current()));
    assert.deepEqual(new Set(all.map(({ token }) => token)), new Set(['run 1']));
    clock.advance(49_999);
    assert.equal((await tokens.current()).token, 'run 1');
    await answer({ ...API_VERSION, status: { token: 'run $N' } });
    clock.advance(1);
    assert.equal((await tokens.current()).token, 'run 2');
    clock.advance(1e9);
    assert.equal((await tokens.current()).token, 'run 2', 'without a time it lasts until it is refused');
    await tokens.refused({ token: 'another' });
    assert.equal(await runs(), 2);
    await tokens.refused(await tokens.current());
    assert.equal((await tokens.current()).token, 'run 3');
  });

  test('is told of the cluster if it wants, and is kept apart by its whole identity', async () => {
    const { exec, runs } = await plugin('identity', { ...API_VERSION, status: { token: '$N' } });
    const clock = new ManualClock();
    const cache = new ExecCredentialCache(clock);
    const token = async (config: ExecConfig, at?: string) =>
      (await source(config, { clock, cache, ...(at ? { at } : {}) }).current()).token;
    assert.equal(await token(exec), '1');
    assert.equal(await token(exec), '1');
    assert.equal(await token(exec, 'https://other.test'), '1', 'it is not told of the cluster');
    assert.equal(await token({ ...exec, args: ['--profile=a'] }), '2');
    assert.equal(await token({ ...exec, env: [{ name: 'EXTRA', value: 'e' }] }), '3');
    assert.equal(await token({ ...exec, provideClusterInfo: true }), '4');
    assert.equal(await token({ ...exec, provideClusterInfo: true }, 'https://other.test'), '5');
    assert.equal(await runs(), 5);
    const lines = (await readFile(join(folder, 'identity.runs'), 'utf8')).split('\n');
    const info = { apiVersion: V1, kind: 'ExecCredential', spec: { interactive: false } };
    assert.equal(lines[1], `${JSON.stringify(info)} --profile=a `);
    assert.ok(lines[2]?.endsWith(' e'));
    assert.match(lines[4] ?? '', /"cluster":\{"server":"https:\/\/other\.test"\}/);
  });

  test('that fails says why, never what it printed, and is asked again', async () => {
    const cases: [answer: unknown, message: RegExp][] = [
      ['secret', /did not print JSON/],
      [{ kind: 'Secret', token: 'secret' }, /did not print an ExecCredential of client\.authentication\.k8s\.io\/v1/],
      [
        { ...API_VERSION, status: { clientCertificateData: 'secret' } },
        /neither a token nor a certificate with its key/,
      ],
      [{ ...API_VERSION, status: { token: 'secret', expirationTimestamp: 'soon' } }, /is not a time/],
    ];
    const { exec, answer } = await plugin('fails', '');
    const tokens = source(exec);
    for (const [printed, message] of cases) {
      await answer(printed);
      await assert.rejects(tokens.current(), (error) => {
        assert.ok(error instanceof ClientError && error.code === 'ERR_EXEC_CREDENTIAL');
        assert.match(error.message, message);
        assert.doesNotMatch(error.message, /secret/);
        return true;
      });
    }
    await answer({ ...API_VERSION, status: { token: 'fine' } });
    assert.equal((await tokens.current()).token, 'fine');
    const missing = { ...exec, command: join(folder, 'missing'), installHint: 'Install it with x.' };
    await assert.rejects(source(missing).current(), /the program is not there\. Install it with x\./);
    await assert.rejects(source({ ...exec, interactiveMode: 'Always' }).current(), /wants a terminal/);
    await assert.rejects(source({ ...exec, apiVersion: 'v1alpha1' }).current(), /apiVersion v1alpha1 is not one of/);
    await writeFile(exec.command, '#!/bin/sh\necho "log in first" >&2\nexit 3\n');
    await assert.rejects(source(exec).current(), /ended with 3: log in first/);
  });

  test('gives the transport its token, anew after a 401, and its certificate', async () => {
    let valid = 'Bearer 1';
    await using fake = await startFakeServer(
      ({ headers, socket }, response) => {
        const { subject } = (socket as TLSSocket).getPeerCertificate();
        reply(response, subject?.CN, headers.authorization === valid ? 200 : 401);
      },
      { tls: { requestCert: true, rejectUnauthorized: false, ca: AUTHORITY } },
    );
    const { exec } = await plugin('transport', {
      ...API_VERSION,
      status: { token: '$N', clientCertificateData: ALICE_CERT, clientKeyData: ALICE_KEY },
    });
    const connection: Connection = fake.connection({ kind: 'exec', exec });
    await using transport = createTransport(connection);
    const ask = async (): Promise<unknown[]> => {
      const { status, body } = await transport.request({ method: 'GET', path: '/' });
      return [status, JSON.parse(Buffer.concat(await body.toArray()).toString())];
    };
    assert.deepEqual(await ask(), [200, 'alice']);
    valid = 'Bearer 2';
    assert.deepEqual(await ask(), [401, 'alice']);
    assert.deepEqual(await ask(), [200, 'alice']);
  });
});
