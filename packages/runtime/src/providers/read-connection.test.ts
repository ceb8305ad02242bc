import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { AUTHORITY, ALICE_CERT, ALICE_KEY, BOB_KEY } from '@asterism/client/testing';
import { type Kubeconfig, parseKubeconfig } from '@asterism/client';
import { readConnection } from './read-connection.ts';
import { kubeconfigOf } from './testing/provider-trial.ts';

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const of = (user: object, cluster: object = {}): Promise<Kubeconfig> =>
  parseKubeconfig(kubeconfigOf({ x: { server: 'https://127.0.0.1:1', user, cluster } }));
const certificate = (cert: string, key: string): object => ({
  'client-certificate-data': base64(cert),
  'client-key-data': base64(key),
});

describe('readConnection', () => {
  test('gives what is in the kubeconfig', async () => {
    const kubeconfig = await of(certificate(ALICE_CERT, ALICE_KEY), {
      'certificate-authority-data': base64(AUTHORITY),
    });
    assert.deepEqual(await readConnection(kubeconfig, { trusted: false }), {
      server: 'https://127.0.0.1:1',
      caData: AUTHORITY,
      credential: { kind: 'certificate', cert: ALICE_CERT, key: ALICE_KEY },
    });
  });

  test('a path beside the data itself is not read, and not minded', async () => {
    const kubeconfig = await of(
      { ...certificate(ALICE_CERT, ALICE_KEY), 'client-key': '/etc/key' },
      { 'certificate-authority': '/etc/ca', 'certificate-authority-data': base64(AUTHORITY) },
    );
    assert.equal((await readConnection(kubeconfig, { trusted: false })).caData, AUTHORITY);
  });

  const rows: [name: string, user: object, cluster: object, message: RegExp, trusted?: boolean][] = [
    ['an authority that is none', {}, { 'certificate-authority-data': 'c2VzYW1l' }, /is not a certificate in PEM/],
    [
      'an authority whose content is broken',
      {},
      { 'certificate-authority-data': base64(AUTHORITY.replace('MIIB', 'AAAA')) },
      /the certificate authority cannot be read/,
    ],
    ['a key of another certificate', certificate(ALICE_CERT, BOB_KEY), {}, /cannot be used: .*key values mismatch/],
    ['a key that is none', certificate(ALICE_CERT, 'sesame'), {}, /certificate and its key cannot be used/],
    ['data that is no text', {}, { 'certificate-authority-data': 7 }, /a value in it has the wrong type/],
    ['a file', {}, { 'certificate-authority': '/etc/ca' }, /certificate-authority would use this machine's/],
    ['a program', { exec: { command: 'login' } }, {}, /exec would use this machine's/],
    ['no command', { exec: { apiVersion: 'v1' } }, {}, /has an exec without a command/, true],
    [
      'a file that is not there',
      {},
      { 'certificate-authority': '/nowhere/ca' },
      /cannot read certificate-authority/,
      true,
    ],
  ];
  for (const [name, user, cluster, message, trusted = false] of rows) {
    test(`${name} is refused`, async () => {
      await assert.rejects(readConnection(await of(user, cluster), { trusted }), { name: 'ClientError', message });
    });
  }

  test('a context that is not there is refused with those that are', async () => {
    const reading = readConnection(await of({}), { context: 'y', trusted: false });
    await assert.rejects(reading, { message: 'context "y" is not in the kubeconfig (it has "x")' });
  });
});
