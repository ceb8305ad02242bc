import assert from 'node:assert/strict';
import { glob, readFile } from 'node:fs/promises';
import { describe, test } from 'node:test';
import type { Server, TLSSocket } from 'node:tls';
import { AUTHORITY } from '../testing/certificates.ts';
import * as chain from '../testing/chain-certificates.ts';
import { type FakeServerOptions, reply, startFakeServer } from '../testing/fake-server.ts';
import { get } from '../testing/requests.ts';
import { createTransport } from './http-transport.ts';
import { trustAnchors, trustAnchorsOnServer } from './trust-anchors.ts';

const LEAF = { cert: chain.LEAF_CERT, key: chain.LEAF_KEY };
const WITH_CHAIN = { cert: `${chain.LEAF_CERT}\n${chain.INTERMEDIATE}`, key: chain.LEAF_KEY };
const PINNED = { cert: chain.PINNED_CERT, key: chain.PINNED_KEY };
const EXPIRED = { cert: `${chain.EXPIRED_CERT}\n${chain.INTERMEDIATE}`, key: chain.EXPIRED_KEY };
const ELSEWHERE = { cert: `${chain.ELSEWHERE_CERT}\n${chain.INTERMEDIATE}`, key: chain.ELSEWHERE_KEY };

const untrusted = 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY';
const CASES: [name: string, server: { cert: string; key: string }, ca: string, expected: number | string][] = [
  ['the root, and the server sends the chain', WITH_CHAIN, chain.ROOT, 200],
  ['the root, and the server sends its own certificate alone', LEAF, chain.ROOT, untrusted],
  ['an authority that another one signed', WITH_CHAIN, chain.INTERMEDIATE, 200],
  ['that authority, and the server sends its own certificate alone', LEAF, chain.INTERMEDIATE, 200],
  ['a pinned certificate that an authority signed', WITH_CHAIN, chain.LEAF_CERT, 200],
  ['the same, and the server sends it alone', LEAF, chain.LEAF_CERT, 200],
  ['a pinned certificate that signed itself', PINNED, chain.PINNED_CERT, 200],
  ['several, one of which counts', WITH_CHAIN, `${AUTHORITY}\n${chain.INTERMEDIATE}\n`, 200],
  ['the certificate of another server', WITH_CHAIN, chain.PINNED_CERT, 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY'],
  ['a sibling that the same authority signed', LEAF, chain.ELSEWHERE_CERT, untrusted],
  ['another authority', LEAF, AUTHORITY, untrusted],
  ['a pinned certificate that has expired', EXPIRED, chain.EXPIRED_CERT, 'CERT_HAS_EXPIRED'],
  ['its authority', EXPIRED, chain.INTERMEDIATE, 'CERT_HAS_EXPIRED'],
  ['a pinned certificate for another host', ELSEWHERE, chain.ELSEWHERE_CERT, 'ERR_TLS_CERT_ALTNAME_INVALID'],
  ['the authority of a certificate for another host', ELSEWHERE, chain.INTERMEDIATE, 'ERR_TLS_CERT_ALTNAME_INVALID'],
];

describe('every certificate of a connection is an anchor, as in Go', () => {
  for (const protocol of ['h2', 'http1'] as const) {
    for (const [name, tls, ca, expected] of CASES) {
      test(`${protocol}: ${name}: ${expected}`, async () => {
        assert.equal(await outcome({ protocol, tls }, ca), expected);
      });
    }
  }

  test('an upgrade is verified in the same way', async () => {
    await using server = await startFakeServer((_, response) => reply(response, {}, 403), { tls: WITH_CHAIN });
    for (const [caData, expected] of [
      [chain.INTERMEDIATE, 403],
      [chain.PINNED_CERT, 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY'],
    ] as const) {
      await using transport = createTransport({ server: server.url, caData, credential: { kind: 'none' } });
      const headers = { connection: 'Upgrade', upgrade: 'websocket' };
      const answer = await transport.upgrade({ ...get('/'), headers }).then(
        ({ status }) => status,
        ({ code }: { code: string }) => code,
      );
      assert.equal(answer, expected);
    }
  });

  test('a server that asks for a certificate accepts one of such an authority, and a pinned one', async () => {
    for (const [ca, expected] of [
      [chain.INTERMEDIATE, 'client-alice'],
      [chain.CLIENT_CERT, 'client-alice'],
      [chain.ELSEWHERE_CERT, 'refused'],
      [chain.PINNED_CERT, 'refused'],
    ] as const) {
      const tls = { ...LEAF, ...trustAnchors(ca), requestCert: true, rejectUnauthorized: false };
      await using server = await startFakeServer(
        ({ socket }, response) => {
          const { authorized, getPeerCertificate } = socket as TLSSocket;
          reply(response, authorized ? getPeerCertificate.call(socket).subject.CN : 'refused');
        },
        { tls },
      );
      trustAnchorsOnServer(server.server as Server);
      const credential = { kind: 'certificate', cert: chain.CLIENT_CERT, key: chain.CLIENT_KEY } as const;
      await using transport = createTransport({ server: server.url, caData: chain.INTERMEDIATE, credential });
      const { body } = await transport.request(get('/'));
      assert.equal(JSON.parse(Buffer.concat(await body.toArray()).toString()), expected);
    }
  });

  test('the message says what is missing', async () => {
    await using server = await startFakeServer((_, response) => reply(response, {}), { tls: LEAF });
    await using transport = createTransport({ server: server.url, caData: chain.ROOT, credential: { kind: 'none' } });
    const message = /none of the certificates that this connection trusts signed it, directly or through the/;
    await assert.rejects(transport.request(get('/')), { code: untrusted, message });
  });
});

test('nothing else makes the `ca` of a TLS connection or server', async () => {
  const packages = new URL('../../../', import.meta.url);
  const offenders: string[] = [];
  for await (const file of glob('*/src/**/*.ts', { cwd: packages })) {
    // hub-trust.ts only looks at a chain, to find a pin in it.
    if (/\.test\.ts$|\/testing\/|test-listener|trust-anchors|hub-trust/.test(file)) continue;
    const text = await readFile(new URL(file, packages), 'utf8');
    const speaksTls = /^import (?!type).*'node:(tls|https)'|\('node:(tls|https)'\)|createSecureServer\(/m.test(text);
    // A type may have a member of that name. A value is given to TLS as `ca: x` or `ca,`.
    const values = text.replaceAll(/^ {2}(readonly )?ca\??: .*;$/gm, '').replaceAll(/(const|let) \{[^}]*\} =/g, '');
    if (speaksTls && /[{,(\s]ca(: |,| \})/.test(values) && !/trustAnchors\(/.test(text)) offenders.push(file);
  }
  assert.deepEqual(offenders, []);
});

/** The status of an answer, or the code of the error. */
async function outcome(options: FakeServerOptions, caData: string): Promise<number | string> {
  await using server = await startFakeServer((_, response) => reply(response, {}), options);
  await using transport = createTransport({ server: server.url, caData, credential: { kind: 'none' } });
  try {
    return (await transport.request(get('/'))).status;
  } catch (error) {
    return (error as { code: string }).code;
  }
}
