import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { connect, createServer } from 'node:tls';
import { trustAnchors } from '@asterism/client';
import { issuerBytes, subjectBytes, withIssuer } from './certificate-names.ts';
import {
  createCertificateAuthority,
  createSigningRequest,
  issueCertificate,
  type KeyPair,
  openServerPki,
  signRequest,
} from './index.ts';
import { FOREIGN_AUTHORITIES } from './testing/foreign-authorities.ts';
import { loadX509 } from './x509.ts';

describe("the issuer is the authority's subject, byte for byte", () => {
  for (const [name, ca] of Object.entries(FOREIGN_AUTHORITIES)) {
    test(`${name}: of a certificate for a new key, and of a signed request`, async () => {
      const subject = { commonName: 's', ipAddresses: ['127.0.0.1'], days: 1 };
      const pair = await issueCertificate(ca, { ...subject, usages: ['server'] });
      const { csr } = await createSigningRequest({ commonName: 'alice', organizations: ['devs'] });
      const signed = await signRequest(ca, csr, { usages: ['client'], seconds: 3600 });
      for (const pem of [pair.cert, signed]) {
        const certificate = new X509Certificate(pem);
        const authority = new X509Certificate(ca.cert);
        assert.deepEqual(issuerBytes(pem), subjectBytes(ca.cert));
        assert.ok(certificate.verify(authority.publicKey));
        assert.ok(certificate.checkIssued(authority));
        assert.deepEqual(await keyIdentifiers(pem, ca), { same: true });
      }
      assert.equal(await handshake(pair, ca), 'authorized');
    });
  }

  test('an authority of our own, and its certificates', async () => {
    const ca = await createCertificateAuthority({ commonName: 'asterism-ca' });
    const { cert } = await issueCertificate(ca, { commonName: 'a', usages: ['client'], days: 1 });
    assert.deepEqual(issuerBytes(ca.cert), subjectBytes(ca.cert));
    assert.deepEqual(issuerBytes(cert), subjectBytes(ca.cert));
    assert.deepEqual(await keyIdentifiers(cert, ca), { same: true });
  });

  test('a kept serving certificate whose issuer was encoded in another way is issued again', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'pki-names-'));
    const ca = FOREIGN_AUTHORITIES['utf8']!;
    await writeFile(join(dir, 'ca.crt'), ca.cert);
    await writeFile(join(dir, 'ca.key'), ca.key, { mode: 0o600 });
    const admin = { commonName: 'admin', organizations: [] };
    const options = { dir, commonName: 'server', hosts: ['127.0.0.1'], admin };
    const first = await openServerPki(options);
    const again = await openServerPki(options);
    assert.equal(again.serving.cert, first.serving.cert);
    // As it was issued before: the same name as PrintableStrings.
    const raw = new X509Certificate(first.serving.cert).raw;
    const printable = Buffer.from(subjectBytes(ca.cert).toString('latin1').replaceAll('\x0c', '\x13'), 'latin1');
    const former = new X509Certificate(withIssuer(raw, printable, { key: ca.key, hash: 'SHA256' }));
    assert.ok(former.verify(new X509Certificate(ca.cert).publicKey), 'it is signed by the authority');
    await writeFile(join(dir, 'serving.crt'), former.toString());
    const renewed = await openServerPki(options);
    assert.notEqual(renewed.serving.cert, former.toString());
    assert.deepEqual(issuerBytes(renewed.serving.cert), subjectBytes(ca.cert));
    await rm(dir, { recursive: true });
  });
});

/** Whether the certificate names the key of its authority as the authority does, which may be not at all. */
async function keyIdentifiers(pem: string, ca: KeyPair): Promise<{ same: boolean }> {
  const x509 = await loadX509();
  const own = new x509.X509Certificate(ca.cert).getExtension(x509.SubjectKeyIdentifierExtension);
  const named = new x509.X509Certificate(pem).getExtension(x509.AuthorityKeyIdentifierExtension);
  return { same: own?.keyId === named?.keyId };
}

async function handshake({ cert, key }: KeyPair, ca: KeyPair): Promise<string> {
  await using listener = createServer({ cert, key });
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const { port } = listener.address() as { port: number };
  const socket = connect({ port, host: '127.0.0.1', ...trustAnchors(ca.cert) });
  await once(socket, 'secureConnect');
  const outcome = socket.authorized ? 'authorized' : String(socket.authorizationError);
  socket.destroy();
  return outcome;
}
