import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Kubeconfig, KubeconfigCluster, KubeconfigUser } from '@asterism/client';
import { AUTHORITY, SERVER_CERT, SERVER_KEY } from '@asterism/client/testing';
import { CommandError, EXIT } from './exit-code.ts';
import { readConnection } from './read-connection.ts';

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const CERTIFICATE = {
  'client-certificate-data': base64(SERVER_CERT),
  'client-key-data': base64(SERVER_KEY),
};

interface Parts {
  user?: KubeconfigUser;
  cluster?: Partial<KubeconfigCluster>;
  current?: string | null;
}

function kubeconfig({ user = CERTIFICATE, cluster = {}, current = 'a' }: Parts): Kubeconfig {
  const server = { server: 'https://hub:7443', 'certificate-authority-data': base64(AUTHORITY), ...cluster };
  return {
    ...(current === null ? {} : { 'current-context': current }),
    clusters: [{ name: 'c', cluster: server }],
    users: [{ name: 'u', user }],
    contexts: ['a', 'b'].map((name) => ({ name, context: { cluster: 'c', user: 'u' } })),
  };
}

test('a connection that may work', async () => {
  const { server, credential } = await readConnection(kubeconfig({}), { context: 'b', where: 'k' });
  assert.deepEqual([server, credential.kind], ['https://hub:7443', 'certificate']);
});

const CARELESS = { 'certificate-authority-data': '', 'insecure-skip-tls-verify': true };

test('a connection that is not verified, where that is not asked for, as kubectl has it', async () => {
  const connection = await readConnection(kubeconfig({ cluster: CARELESS }), { context: undefined, where: 'k' });
  assert.equal(connection.insecureSkipTlsVerify, true);
  const verified = await readConnection(kubeconfig({}), { context: undefined, where: 'k', verified: true });
  assert.equal(verified.caData, AUTHORITY);
});

const SECRET = 'not-to-be-shown';
const faults: [
  name: string,
  parts: Parts & { context?: string; now?: number; verified?: true | { orGive: string } },
  code: number,
  says: RegExp,
][] = [
  ['no current context', { current: null }, 2, /^k has no current context: choose .*--context \(it has "a", "b"\)$/],
  ['a context that is not there', { context: 'x' }, 2, /^--context: "x" is not in k \(it has "a", "b"\)$/],
  ['a current context that is not there', { current: 'x' }, 1, /^k: context "x" is not in the kubeconfig/],
  ['no address', { cluster: { server: '' } }, 1, /^k: cluster "c" has no server$/],
  ['an address that is none', { cluster: { server: 'x y' } }, 1, /^k: "x y" is not the address of a server/],
  ['a password', { cluster: { server: `https://me:${SECRET}@hub` } }, 1, /^k: the address of hub holds a password/],
  [
    'a password in no address',
    { cluster: { server: `https://me:${SECRET}@hub:99999` } },
    1,
    /^k: what is given is not/,
  ],
  [
    'an authority that is no certificate',
    { cluster: { 'certificate-authority-data': base64(SECRET) } },
    1,
    /^k, context "a": the certificate authority is no certificate/,
  ],
  [
    'a cluster that is not verified',
    { cluster: CARELESS, context: 'b', verified: true },
    2,
    /^k, context "b": its cluster "c" says insecure-skip-tls-verify: whoever .* as certificate-authority-data instead \(on/,
  ],
  [
    'the same, where a flag can help',
    { cluster: CARELESS, verified: { orGive: '--endpoint-ca FILE' } },
    2,
    /^k, context "a": .* certificate-authority-data instead, or give it with --endpoint-ca FILE \(on/,
  ],
  ['a token of two lines', { user: { token: `${SECRET}\n` } }, 1, /^k, context "a": the token is none$/],
  [
    'a client certificate that is none',
    { user: { ...CERTIFICATE, 'client-certificate-data': base64(SECRET) } },
    1,
    /the client certificate is none \(PEM\)$/,
  ],
  [
    'a key that is none',
    { user: { ...CERTIFICATE, 'client-key-data': base64(SECRET) } },
    1,
    /the client key is none \(PEM\), or not that of/,
  ],
  [
    'the key of another certificate',
    { user: { ...CERTIFICATE, 'client-certificate-data': base64(AUTHORITY) } },
    1,
    /the client key is none \(PEM\), or not that of the client certificate$/,
  ],
  [
    'a client certificate that has expired',
    { now: Date.parse('2127-01-01T00:00:00Z') },
    1,
    /the client certificate expired at 2126-\S+, and it is 2127-01-01T00:00:00\.000Z by this machine's clock: get a new/,
  ],
];

for (const [name, { context, now, verified, ...parts }, code, says] of faults) {
  test(`refused: ${name}`, async () => {
    const options = { context, where: 'k', verified, ...(now === undefined ? {} : { now }) };
    const reading = readConnection(kubeconfig(parts), options);
    await assert.rejects(reading, (error) => {
      assert.ok(error instanceof CommandError);
      assert.match(error.message, says);
      assert.ok(!error.message.includes(SECRET));
      assert.equal(error.exitCode, code === 2 ? EXIT.usage : EXIT.error);
      return true;
    });
  });
}
