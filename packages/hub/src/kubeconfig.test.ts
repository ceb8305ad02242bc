import assert from 'node:assert/strict';
import { createPrivateKey, generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { type Connection, connectionFromKubeconfig, loadKubeconfig, parseKubeconfig } from '@asterism/client';
import { formatKubeconfig, writeKubeconfig } from './kubeconfig.ts';

test('the kubeconfig leads a client to the hub as its administrator, and is nobody else’s to read', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'asterism-kubeconfig-'));
  try {
    const file = join(dir, 'kubeconfig');
    const connection = {
      server: 'https://127.0.0.1:7443',
      caData: 'CA\n',
      credential: { kind: 'certificate' as const, cert: 'CERT\n', key: 'KEY\n' },
    };
    writeKubeconfig(file, formatKubeconfig(connection));
    assert.equal(statSync(file).mode & 0o777, 0o600);
    assert.deepEqual(await connectionFromKubeconfig(await loadKubeconfig(file), 'asterism'), connection);
  } finally {
    rmSync(dir, { recursive: true });
  }
});

test('whoever the connection is, the kubeconfig is too', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'asterism-kubeconfig-'));
  const at = { server: 'https://[::1]:7443', caData: 'CA\n', tlsServerName: 'hub' };
  const connections: Connection[] = [
    { ...at, credential: { kind: 'none' } },
    { ...at, credential: { kind: 'token', token: '"quoted": #token' } },
    { ...at, credential: { kind: 'tokenFile', path: '/var/run/a token' } },
    { ...at, credential: { kind: 'certificate', cert: 'CERT', key: 'KEY' } },
    { ...at, credential: { kind: 'token', token: 't', certificate: { cert: 'CERT', key: 'KEY' } } },
    { ...at, credential: { kind: 'tokenFile', path: '/t', token: 't', certificate: { cert: 'CERT', key: 'KEY' } } },
    {
      ...at,
      credential: {
        kind: 'exec',
        exec: { apiVersion: 'client.authentication.k8s.io/v1', command: 'login', args: ['--as', 'me'] },
      },
      impersonate: { user: 'jane', groups: ['a', 'b'] },
    },
  ];
  try {
    const file = join(dir, 'kubeconfig');
    for (const connection of connections) {
      writeKubeconfig(file, formatKubeconfig(connection));
      const read = await connectionFromKubeconfig(await loadKubeconfig(file));
      assert.deepEqual(JSON.parse(JSON.stringify(read)), JSON.parse(JSON.stringify(connection)));
    }
  } finally {
    rmSync(dir, { recursive: true });
  }
});

test('an EC key is written as SEC1, as client-go writes it; other keys stay as they are', async () => {
  const pem = { type: 'pkcs8', format: 'pem' } as const;
  const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export(pem).toString();
  const written = async (key: string): Promise<string> => {
    const credential = { kind: 'certificate', cert: 'CERT', key } as const;
    const kubeconfig = await parseKubeconfig(formatKubeconfig({ server: 'https://hub:7443', credential }));
    return Buffer.from(kubeconfig.users[0]?.user['client-key-data'] ?? '', 'base64').toString();
  };
  const key = await written(ec.export(pem).toString());
  assert.match(key, /^-----BEGIN EC PRIVATE KEY-----\n/);
  assert.ok(createPrivateKey(key).equals(ec));
  assert.equal(await written(key), key);
  assert.equal(await written(rsa), rsa);
});
