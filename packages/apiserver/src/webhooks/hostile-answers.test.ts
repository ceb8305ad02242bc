import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { fetchJson } from '../authentication/fetch-json.ts';
import { createCertificateAuthority } from '../pki/certificate-authority.ts';
import { issueCertificate } from '../pki/issue-certificate.ts';
import { WebhookClient } from './webhook-client.ts';

const PIECE = Buffer.alloc(64 * 1024, ' ');
const ANSWERS: Readonly<Record<string, (answer: ServerResponse) => void>> = {
  '/endless': (answer) => {
    const more = (): void => {
      while (!answer.destroyed && answer.write(PIECE));
    };
    answer.on('drain', more);
    more();
  },
  '/deep': (answer) => void answer.end('['.repeat(900_000)),
};

describe('answers of webhooks and identity providers', () => {
  const parts = new AsyncDisposableStack();
  let url: string;
  let ca: string;

  before(async () => {
    const authority = await createCertificateAuthority({ commonName: 'hostile-ca' });
    const names = { commonName: 'hostile', ipAddresses: ['127.0.0.1'], usages: ['server' as const], days: 1 };
    const { cert, key } = await issueCertificate(authority, names);
    const server = createServer({ cert, key }, (request, answer) => {
      request.resume();
      answer.on('error', () => {});
      ANSWERS[(request.url ?? '').split('?')[0] ?? '']?.(answer);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    parts.defer(() => {
      server.closeAllConnections();
      server.close();
    });
    url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
    ca = authority.cert;
  });
  after(() => parts.disposeAsync());

  for (const [path, says] of [
    ['/endless', /more than 1048576 bytes \(limit for identity\)/],
    ['/deep', /JSON of more than 1000 levels \(limit for identity\)/],
  ] as const) {
    test(`an identity provider's ${path} is refused`, async () => {
      await assert.rejects(fetchJson(url + path, ca), says);
    });
  }

  for (const [path, says] of [
    ['/endless', /more than 16777216 bytes \(limit for webhook\)/],
    ['/deep', /JSON of more than 1000 levels \(limit for webhook\)/],
  ] as const) {
    test(`a webhook's ${path} is refused`, async () => {
      const client = new WebhookClient(() => Promise.reject(new Error('no Service')));
      parts.defer(() => client.close());
      const config = { url: url + path, caBundle: Buffer.from(ca).toString('base64') };
      const { signal } = new AbortController();
      await assert.rejects(client.post(config, '{}', { timeoutSeconds: 10, signal }), says);
    });
  }
});
