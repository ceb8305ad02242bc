import assert from 'node:assert/strict';
import { createPrivateKey, createPublicKey, generateKeyPairSync } from 'node:crypto';
import { test } from 'node:test';
import { createSigningRequest, readSigningRequest } from '@asterism/apiserver';
import type { CertificateSigningRequest } from '@asterism/machinery';
import fc from 'fast-check';
import { publicKeyPin } from '../connect/public-key-pin.ts';
import { createAgentKey, createCertificateRequest } from './create-certificate-request.ts';
import { readCertificateRequest } from './read-certificate-request.ts';

const SUBJECT = { commonName: 'asterism:agent:edge-1', organizations: ['asterism:agents', 'asterism:agent-key:k'] };

function object(pem: string, status?: CertificateSigningRequest['status']): CertificateSigningRequest {
  return {
    metadata: { name: 'edge-1-abc', annotations: { 'asterism.dev/registration-digest': 'sha256:d' } },
    spec: {
      request: Buffer.from(pem).toString('base64'),
      signerName: 'kubernetes.io/kube-apiserver-client',
      username: 'system:bootstrap:abcdef',
      groups: ['g'],
      usages: ['client auth'],
    },
    ...(status ? { status } : {}),
  };
}

function derOf(pem: string): Buffer {
  return Buffer.from(pem.replace(/-----.*-----|\s/g, ''), 'base64');
}

function pemOf(der: Uint8Array): string {
  const base64 = Buffer.from(der).toString('base64');
  return `-----BEGIN CERTIFICATE REQUEST-----\n${base64}\n-----END CERTIFICATE REQUEST-----\n`;
}

test('a request that was made by hand is what an X.509 library takes it for', async () => {
  const content = await readSigningRequest(createCertificateRequest(createAgentKey(), SUBJECT));
  assert.equal(content.commonName, SUBJECT.commonName);
  assert.deepEqual(content.organizations, SUBJECT.organizations);
});

test('reading tells subject, key and what the API server says of the requester', () => {
  const key = createAgentKey();
  const spki = createPublicKey(createPrivateKey(key)).export({ type: 'spki', format: 'der' });
  assert.deepEqual(readCertificateRequest(object(createCertificateRequest(key, SUBJECT))), {
    name: 'edge-1-abc',
    username: 'system:bootstrap:abcdef',
    groups: ['g'],
    signerName: 'kubernetes.io/kube-apiserver-client',
    usages: ['client auth'],
    commonName: SUBJECT.commonName,
    organizations: SUBJECT.organizations,
    extras: [],
    publicKeyHash: publicKeyPin(spki),
    digest: 'sha256:d',
    outcome: undefined,
  });
});

test('a request of an X.509 library is read too, and its alternative names are seen', async () => {
  const { csr } = await createSigningRequest({
    commonName: SUBJECT.commonName,
    organizations: ['asterism:agents', 'system:masters'],
    dnsNames: ['hub'],
  });
  const facts = readCertificateRequest(object(csr));
  assert.deepEqual(facts.organizations, ['asterism:agents', 'system:masters']);
  assert.deepEqual(facts.extras, ['2.5.29.17']);
});

test('what was decided about it is read off its conditions', () => {
  const pem = createCertificateRequest(createAgentKey(), SUBJECT);
  for (const type of ['Approved', 'Denied', 'Failed'] as const) {
    assert.equal(readCertificateRequest(object(pem, { conditions: [{ type, status: 'True' }] })).outcome, type);
  }
});

test('a request whose subject was changed after it was signed is refused', () => {
  const der = derOf(createCertificateRequest(createAgentKey(), SUBJECT));
  der.write('asterism:agent:edge-2', der.indexOf('asterism:agent:edge-1'));
  assert.throws(() => readCertificateRequest(object(pemOf(der))), /not signed by the key that it carries/);
});

test('a request with a key of another kind is refused', () => {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'secp384r1' });
  const pem = createCertificateRequest(privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(), SUBJECT);
  assert.throws(() => readCertificateRequest(object(pem)), /P-256/);
});

test('whatever else comes is refused, never taken for a request', () => {
  const der = derOf(createCertificateRequest(createAgentKey(), SUBJECT));
  fc.assert(
    fc.property(fc.nat(der.length - 1), fc.integer({ min: 1, max: 255 }), (at, change) => {
      const damaged = Buffer.from(der);
      damaged[at] = damaged[at]! ^ change;
      assert.throws(() => readCertificateRequest(object(pemOf(damaged))));
    }),
    { numRuns: 300 },
  );
  fc.assert(
    fc.property(fc.nat(der.length - 1), (length) => {
      assert.throws(() => readCertificateRequest(object(pemOf(der.subarray(0, length)))));
    }),
    { numRuns: 100 },
  );
  assert.throws(() => readCertificateRequest(object('hello')), /PEM/);
});
