import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { before, describe, test } from 'node:test';
import { createTransport } from '@asterism/client';
import { fetchJson } from './authentication/fetch-json.ts';
import { Listener } from './http/wire/listener.ts';
import { createCertificateAuthority, issueCertificate, type KeyPair } from './pki/index.ts';
import { WebhookServer } from './webhooks/testing/webhook-server.ts';
import { WebhookClient } from './webhooks/webhook-client.ts';

const base64 = (text: string): string => Buffer.from(text).toString('base64');

/**
 * A certificate that an authority signed, and that is an anchor by itself: OpenSSL accepts neither it nor an intermediate authority unless
 * partial chains are allowed, so one case shows both.
 */
describe('every certificate of a bundle is an anchor, as in Go', () => {
  let ca: KeyPair;
  let server: KeyPair;
  let client: KeyPair;
  let other: KeyPair;

  before(async () => {
    ca = await createCertificateAuthority({ commonName: 'ca' });
    const subject = { commonName: 's', ipAddresses: ['127.0.0.1'], days: 1 };
    server = await issueCertificate(ca, { ...subject, usages: ['server'] });
    other = await issueCertificate(ca, { ...subject, usages: ['server'] });
    client = await issueCertificate(ca, { commonName: 'alice', usages: ['client'], days: 1 });
  });

  test('the caBundle of a webhook', async () => {
    await using webhook = await WebhookServer.start();
    webhook.on('/ok', () => ({ allowed: true }));
    const url = webhook.url('/ok');
    const caller = new WebhookClient(() => Promise.reject(new Error('no service')));
    const options = { timeoutSeconds: 5, signal: AbortSignal.timeout(5_000) };
    const review = JSON.stringify({ apiVersion: 'admission.k8s.io/v1', request: { uid: '1' } });
    const { status } = await caller.post({ url, caBundle: base64(webhook.pair.cert) }, review, options);
    assert.equal(status, 200);
    await assert.rejects(caller.post({ url, caBundle: base64(other.cert) }, review, options), /unknown authority/);
    caller.close();
  });

  test('the authority of an OpenID provider', async (context) => {
    const provider = createServer({ ...server }, (_, response) => void response.end('{"issuer":"me"}'));
    context.after(() => provider.close());
    provider.listen(0, '127.0.0.1');
    await once(provider, 'listening');
    const url = `https://127.0.0.1:${(provider.address() as AddressInfo).port}`;
    assert.deepEqual(await fetchJson(url, server.cert), { issuer: 'me' });
    await assert.rejects(fetchJson(url, other.cert), /certificate/);
  });

  test('the authority of client certificates, from the start and when it is replaced', async (context) => {
    const listener = new Listener({
      host: '127.0.0.1',
      port: 0,
      tls: server,
      clientCa: client.cert,
      handler: {
        handle: async ({ peer }) => {
          const body = Buffer.from(peer?.certificateRefused ? 'refused' : (peer?.certificate?.commonName ?? 'nobody'));
          return { status: 200, headers: {}, body };
        },
        upgrade: () => Promise.resolve(),
      },
      onError: assert.fail,
    });
    context.after(() => listener.close());
    const { port } = await listener.listen();
    const whoami = async (): Promise<string> => {
      const credential = { kind: 'certificate', ...client } as const;
      const connection = { server: `https://127.0.0.1:${port}`, caData: server.cert, credential };
      await using transport = createTransport(connection);
      const { body } = await transport.request({ method: 'GET', path: '/' });
      return Buffer.concat(await body.toArray()).toString();
    };
    const seen: string[] = [await whoami()];
    for (const bundle of [other.cert, client.cert, ca.cert, '']) {
      listener.trust(bundle);
      seen.push(await whoami());
    }
    assert.deepEqual(seen, ['alice', 'refused', 'alice', 'alice', 'refused']);
  });
});
