import assert from 'node:assert/strict';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { createServer, type Server } from 'node:tls';
import { createCertificateAuthority, issueCertificate, type KeyPair } from '@asterism/apiserver';
import { ClientError } from '@asterism/client';
import { JoinError } from '../join-error.ts';
import { resolveHubAuthority } from './hub-trust.ts';
import { certificatePin } from './public-key-pin.ts';

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

  test('another hub is refused, and its pin is told', async () => {
    await assert.rejects(resolveHubAuthority({ server: address, ca: certificatePin(other.cert) }), (error) => {
      assert.ok(error instanceof JoinError && error.code === 'HubNotTrusted', String(error));
      assert.ok(error.message.includes(certificatePin(ca.cert)));
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
