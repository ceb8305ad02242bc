import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import type { Duplex } from 'node:stream';
import { test } from 'node:test';
import { isTunnelError } from '../tunnel-error.ts';
import { answerTunnelUpgrade, refuseTunnelUpgrade } from './answer-tunnel-upgrade.ts';
import { requestCarrier } from './carriers.ts';
import { type ConnectionOffer, offerHeaders, parseOffer } from './connection-offer.ts';
import { failureHeaders, readFailure } from './failure-headers.ts';
import { upgradeToTunnel } from './upgrade-to-tunnel.ts';

const OFFER: ConnectionOffer = { kind: 'long', instance: 'a-1', slot: 3 };

test('an offer survives its headers', () => {
  assert.deepEqual(parseOffer(offerHeaders(OFFER)), OFFER);
});

test('a byte pipe may be a spare one, and nothing else', () => {
  const offered: ConnectionOffer = { ...OFFER, kind: 'upgrade', spare: true };
  assert.deepEqual(parseOffer(offerHeaders(offered)), offered);
  assert.deepEqual(parseOffer({ ...offerHeaders(offered), 'tunnel-kind': 'long' }), OFFER);
});

const BAD: [string, Record<string, string | string[]>, RegExp][] = [
  ['no version', { 'tunnel-version': [] }, /"tunnel-version"/],
  ['another version', { 'tunnel-version': '3' }, /version 3 is not spoken here/],
  ['unknown kind', { 'tunnel-kind': 'shortish' }, /"tunnel-kind"/],
  ['empty instance', { 'tunnel-instance': '' }, /"tunnel-instance"/],
  ['odd instance', { 'tunnel-instance': 'a b' }, /"tunnel-instance"/],
  ['negative slot', { 'tunnel-slot': '-1' }, /"tunnel-slot"/],
];
for (const [name, headers, message] of BAD) {
  test(`an offer with ${name} is an error that names it`, () => {
    assert.throws(() => parseOffer({ ...offerHeaders(OFFER), ...headers }), { code: 'ERR_TUNNEL_PROTOCOL', message });
  });
}

test('a failure survives its headers; unknown reasons are the target’s', () => {
  const error = readFailure(failureHeaders('REFUSED', 'nein – "weil"\r\n'), 'tunnel to "x"');
  assert.deepEqual([error?.reason, error?.message], ['REFUSED', 'tunnel to "x": nein – "weil"\r\n']);
  assert.equal(readFailure({ 'tunnel-error': 'CLOSED', 'tunnel-message': '%zz' }, 'x')?.message, 'x: %zz');
  assert.equal(readFailure({ 'tunnel-error': 'CLOSED' }, 'x')?.reason, 'TARGET');
  assert.equal(readFailure({ 'content-type': 'x' }, 'x'), undefined);
  assert.ok((failureHeaders('TARGET', '\ud800'.repeat(5000))['tunnel-message']?.length ?? 0) < 10_000);
});

/** Answers the upgrade of one connection in some way. */
async function upgradeAgainst(answer: (socket: Duplex) => void, signal = AbortSignal.timeout(2_000)): Promise<Duplex> {
  const server = createServer((_request, response) => response.writeHead(404).end('no such path\nmore'));
  server.on('upgrade', (_request, socket) => answer(socket));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  try {
    return await upgradeToTunnel(socket, { path: '/tunnel', host: 'hub:7443', offer: OFFER, signal });
  } finally {
    server.close();
    server.closeAllConnections();
  }
}

test('the upgrade of a tunnel connection: taken, with bytes behind the answer', async () => {
  const socket = await upgradeAgainst((hub) => {
    answerTunnelUpgrade(hub, requestCarrier('upgrade', OFFER).headers, Buffer.alloc(0)).end('and more');
  });
  assert.equal(String(Buffer.concat(await socket.toArray())), 'and more');
});

test('the upgrade of a tunnel connection: refused, with reason and time', async () => {
  const refused = upgradeAgainst((hub) => refuseTunnelUpgrade(hub, 503, 'draining', 2.5));
  await assert.rejects(refused, (error) => {
    assert.ok(isTunnelError(error, 'REFUSED'));
    assert.deepEqual([error.message, error.retryAfterMs], ['hub:7443 answered 503 to the tunnel: draining', 3000]);
    return true;
  });
});

const OTHER = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n';
const FAILURES: [string, (socket: Duplex) => void, RegExp][] = [
  ['ends', (hub) => hub.end(), /ended before a whole head/],
  ['another protocol', (hub) => hub.write(OTHER), /another protocol/],
  ['garbage', (hub) => hub.write('SSH-2.0\r\n\r\n'), /status line/],
];
for (const [name, answer, message] of FAILURES) {
  test(`the upgrade of a tunnel connection: ${name}`, () => assert.rejects(upgradeAgainst(answer), message));
}

test('the upgrade of a tunnel connection ends with its signal', async () => {
  const abort = new AbortController();
  await assert.rejects(
    upgradeAgainst(() => abort.abort(new Error('enough')), abort.signal),
    /^Error: enough$/,
  );
});
