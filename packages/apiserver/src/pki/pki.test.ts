import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { test } from 'node:test';
import { connect, createServer, type TLSSocket } from 'node:tls';
import {
  createCertificateAuthority,
  createSigningRequest,
  issueCertificate,
  readSigningRequest,
  signRequest,
} from './index.ts';

const HOUR_MS = 3600_000;

test('a server and a client that trust one authority accept each other', async () => {
  const ca = await createCertificateAuthority({ commonName: 'test-ca' });
  const server = await issueCertificate(ca, {
    commonName: 'server',
    dnsNames: ['localhost'],
    ipAddresses: ['127.0.0.1'],
    usages: ['server'],
    days: 1,
  });
  const client = await issueCertificate(ca, {
    commonName: 'alice',
    organizations: ['devs', 'ops'],
    usages: ['client'],
    days: 1,
  });
  await using listener = createServer({ ...server, ca: ca.cert, requestCert: true, rejectUnauthorized: true });
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const accepted = once(listener, 'secureConnection') as Promise<[TLSSocket]>;
  const { port } = listener.address() as { port: number };
  const socket = connect({ port, host: '127.0.0.1', ca: ca.cert, ...client });
  await once(socket, 'secureConnect');
  const [peer] = await accepted;
  const { subject } = peer.getPeerCertificate();
  assert.equal(subject.CN, 'alice');
  assert.deepEqual(subject.O, ['devs', 'ops']);
  socket.destroy();
  peer.destroy();
});

test('a certificate outlives neither its days nor its authority', async () => {
  const now = Date.UTC(2030, 0, 1);
  const ca = await createCertificateAuthority({ commonName: 'ca', days: 10, now });
  const short = await issueCertificate(ca, { commonName: 'a', usages: ['client'], days: 2, now });
  const long = await issueCertificate(ca, { commonName: 'a', usages: ['client'], days: 20, now });
  assert.equal(new X509Certificate(short.cert).validToDate.toISOString(), '2030-01-03T00:00:00.000Z');
  assert.equal(new X509Certificate(long.cert).validToDate.toISOString(), '2030-01-11T00:00:00.000Z');
});

test('a signed request certifies the key that stayed with its owner', async () => {
  const ca = await createCertificateAuthority({ commonName: 'ca' });
  const { csr, key } = await createSigningRequest({ commonName: 'agent', organizations: ['agents'] });
  const now = Date.now();
  const pem = await signRequest(ca, csr, { usages: ['client'], seconds: 3600, now });
  const certificate = new X509Certificate(pem);
  const { createPrivateKey } = await import('node:crypto');
  assert.ok(certificate.checkPrivateKey(createPrivateKey(key)));
  assert.ok(certificate.verify(new X509Certificate(ca.cert).publicKey));
  assert.equal(certificate.subject, 'O=agents\nCN=agent');
  assert.deepEqual(certificate.keyUsage, ['1.3.6.1.5.5.7.3.2']);
  assert.ok(Math.abs(certificate.validToDate.getTime() - (now + HOUR_MS)) < 1000);
});

test('what a request asks for can be read before it is signed', async () => {
  const { csr } = await createSigningRequest({ commonName: 'a b, c=d', organizations: ['x'], dnsNames: ['a.example'] });
  assert.deepEqual(await readSigningRequest(csr), {
    commonName: 'a b, c=d',
    organizations: ['x'],
    dnsNames: ['a.example'],
    ipAddresses: [],
    emailAddresses: [],
    uris: [],
  });
});

test('a request with a broken signature is refused', async () => {
  const { csr } = await createSigningRequest({ commonName: 'a' });
  const lines = csr.trim().split('\n');
  const der = Buffer.from(lines.slice(1, -1).join(''), 'base64');
  der[der.length - 1]! ^= 1;
  const broken = `${lines[0]}\n${der.toString('base64')}\n${lines.at(-1)}\n`;
  await assert.rejects(readSigningRequest(broken), /not signed by the key/);
  await assert.rejects(readSigningRequest('nonsense'));
});
