import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { connect, createServer, type Server } from 'node:tls';
import { createCertificateAuthority, issueCertificate, type KeyPair } from '@asterism/apiserver';
import { ClientError } from '@asterism/client';
import { startConnectProxy } from '@asterism/client/testing';
import { JoinError } from '../join-error.ts';
import { resolveHubAuthority } from './hub-trust.ts';
import { certificatePin } from './public-key-pin.ts';

/** For 127.0.0.1 until 2126, of nobody but itself, and no CA. */
const SELF_SIGNED = `-----BEGIN CERTIFICATE-----
MIIBhDCCASmgAwIBAgIUaF7SeZjucyDo3Rv9cp8H45NxP+wwCgYIKoZIzj0EAwIw
DzENMAsGA1UEAwwEc2VsZjAgFw0yNjExMjExNjIyMjlaGA8yMTI2MTAyODE2MjIy
OVowDzENMAsGA1UEAwwEc2VsZjBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABGx4
0BZBzRfbLjHiT0u1mPohNciAIH098zDuKaiXGPokIYwqGMADXtiRkkmb8VVi88zl
jJS0tgXndGyb37iYvWKjYTBfMB0GA1UdDgQWBBRWCAeajYKzUXPfZRQUuncYsSfk
PzAfBgNVHSMEGDAWgBRWCAeajYKzUXPfZRQUuncYsSfkPzAPBgNVHREECDAGhwR/
AAABMAwGA1UdEwEB/wQCMAAwCgYIKoZIzj0EAwIDSQAwRgIhAJzZt4O0SLxRLNt9
5v0fIHspZAzn1iBd2fDGVbQudOw0AiEArDIMDqYxN/Ivy0fEDrPTo51KNiKJBQyd
/uz1rRn6XEk=
-----END CERTIFICATE-----`;
const SELF_SIGNED_KEY = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgJN3I01F/zm5F6l26
/r+cm8PMkzQ08qqHDqlUNBCrD9OhRANCAARseNAWQc0X2y4x4k9LtZj6ITXIgCB9
PfMw7imolxj6JCGMKhjAA17YkZJJm/FVYvPM5YyUtLYF53Rsm9+4mL1i
-----END PRIVATE KEY-----`;

async function serve(cert: string, key: string): Promise<AsyncDisposable & { address: string }> {
  const server = createServer({ cert, key }, (socket) => socket.on('error', () => {}));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { address, [Symbol.asyncDispose]: () => new Promise((resolve) => void server.close(() => resolve())) };
}

describe('the first contact with a hub', () => {
  let ca: KeyPair;
  let serving: KeyPair;
  let other: KeyPair;
  let server: Server;
  let address: string;
  let received = 0;

  before(async () => {
    ca = await createCertificateAuthority({ commonName: 'hub' });
    other = await createCertificateAuthority({ commonName: 'hub' });
    serving = await issueCertificate(ca, {
      commonName: 'hub',
      ipAddresses: ['127.0.0.1'],
      usages: ['server'],
      days: 1,
    });
    server = createServer({ cert: serving.cert + ca.cert, key: serving.key }, (socket) => {
      socket.on('data', (chunk) => {
        received += chunk.length;
      });
      socket.on('error', () => {});
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    address = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });

  after(() => new Promise<void>((resolve) => void server.close(() => resolve())));

  test('a pin finds the authority in the chain that the hub presents, and nothing is sent', async () => {
    assert.equal((await resolveHubAuthority({ server: address, ca: certificatePin(ca.cert) })).trim(), ca.cert.trim());
    assert.equal(received, 0);
  });

  test('the first look, too, goes through the proxy that is given', async () => {
    await using proxy = await startConnectProxy({ credential: 'edge:secret' });
    const { port } = new URL(address);
    const proxyUrl = `http://edge:secret@127.0.0.1:${proxy.port}`;
    const hub = { server: `https://hub.test:${port}`, ca: certificatePin(ca.cert), proxyUrl };
    assert.equal((await resolveHubAuthority(hub)).trim(), ca.cert.trim());
    assert.deepEqual(proxy.asked, [`hub.test:${port}`]);
    const refused = resolveHubAuthority({ ...hub, proxyUrl: `http://127.0.0.1:${proxy.port}` });
    await assert.rejects(refused, { code: 'ERR_PROXY_REFUSED', message: /407/ });
  });

  test('another hub is refused, and its pin is told', async () => {
    await assert.rejects(resolveHubAuthority({ server: address, ca: certificatePin(other.cert) }), (error) => {
      assert.ok(error instanceof JoinError && error.code === 'HubNotTrusted', String(error));
      assert.ok(error.message.includes(certificatePin(ca.cert)));
      return true;
    });
  });

  test('a server that vouches for itself is known by the pin of its own certificate, and verified by it', async () => {
    await using self = await serve(SELF_SIGNED, SELF_SIGNED_KEY);
    const authority = await resolveHubAuthority({ server: self.address, ca: certificatePin(SELF_SIGNED) });
    assert.equal(authority.trim(), SELF_SIGNED);
    const socket = connect({ host: '127.0.0.1', port: Number(new URL(self.address).port), ca: authority });
    await once(socket, 'secureConnect');
    socket.destroy();
    await assert.rejects(resolveHubAuthority({ server: self.address, ca: certificatePin(ca.cert) }), /is not the hub/);
  });

  test('of a server that does not present its CA, the CA itself is asked for', async () => {
    await using leaf = await serve(serving.cert, serving.key);
    await assert.rejects(resolveHubAuthority({ server: leaf.address, ca: certificatePin(ca.cert) }), (error) => {
      assert.ok(error instanceof JoinError && error.code === 'HubNotTrusted', String(error));
      assert.match(error.message, /does not present its CA.*give the file with the hub's CA/s);
      return true;
    });
  });

  test('the pin of the serving certificate is no pin of an authority', async () => {
    await assert.rejects(resolveHubAuthority({ server: address, ca: certificatePin(serving.cert) }), /is not the hub/);
  });

  test('an authority that was verified before is not asked for again', async () => {
    assert.equal(
      await resolveHubAuthority({ server: 'https://127.0.0.1:1', ca: certificatePin(ca.cert) }, ca.cert),
      ca.cert,
    );
  });

  test('PEM is taken as it is; what is neither is refused', async () => {
    assert.equal(await resolveHubAuthority({ server: 'https://127.0.0.1:1', ca: ca.cert }), ca.cert);
    await assert.rejects(resolveHubAuthority({ server: address, ca: 'sha256:abc' }), /PEM or a pin/);
  });

  test('nobody there', async () => {
    await assert.rejects(
      resolveHubAuthority({ server: 'https://127.0.0.1:1', ca: certificatePin(ca.cert) }),
      (error) => error instanceof ClientError && error.code === 'ECONNREFUSED',
    );
  });
});
