import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { closeConnections, openConnection, openConnections, readToEnd } from '../fuzz/connections.ts';
import { fuzzRequests, prepareServer, renderTally } from '../fuzz/fuzz-requests.ts';
import { FuzzedServer, type ServerReport } from '../fuzz/fuzzed-server.ts';
import { Draw } from './draw.ts';
import { seededRandom } from './seeded-random.ts';

const REQUESTS = 100_000;
/** What fills caches, pools and the log of changes once, in turns with connections. */
const WARM_UP = 10_000;
const CONNECTIONS = 10_000;
/** The C library keeps what connections took, in pieces, and uses it again: later ones show whether that grows. */
const WARM_UP_ROUNDS = 3;
/** An idle server looks every 10 s whether it has memory to give back. */
const SETTLE_MS = 25_000;
const ALLOWED_GROWTH = 1.1;

const megabytes = (bytes: number): string => `${Math.round(bytes / 1024 ** 2)} MiB`;

test(`${REQUESTS} broken requests and ${CONNECTIONS} connections: no crash, and memory as before`, async (t) => {
  const draw = new Draw(seededRandom(t));
  await using server = await FuzzedServer.start();
  await prepareServer(server);
  for (let round = 0; round < WARM_UP_ROUNDS; round++) {
    await fuzzRequests(server, draw, WARM_UP);
    await floodWithConnections(server, CONNECTIONS);
  }
  const before = await settledReport(server);

  const tally = await fuzzRequests(server, draw, REQUESTS);
  t.diagnostic(renderTally(tally));
  const fuzzed = await settledReport(server);
  await floodWithConnections(server, CONNECTIONS);
  const after = await settledReport(server);
  t.diagnostic(`RSS ${[before, fuzzed, after].map(({ rss }) => megabytes(rss)).join(' → ')}`);
  t.diagnostic(`heap ${[before, fuzzed, after].map(({ heap }) => megabytes(heap)).join(' → ')}`);
  assert.ok(fuzzed.rss <= before.rss * ALLOWED_GROWTH, 'after the requests');
  assert.ok(after.rss <= before.rss * ALLOWED_GROWTH, 'after the connections');
});

async function settledReport(server: FuzzedServer): Promise<ServerReport> {
  await delay(SETTLE_MS);
  return await server.report();
}

/** A third of them idle, a third with half of a request's headers, a third closed halfway; others are served meanwhile. */
async function floodWithConnections(server: FuzzedServer, count: number): Promise<void> {
  const sockets = await openConnections(server, count);
  for (const [index, socket] of sockets.entries()) {
    if (index % 3 === 1) socket.write('GET /api HTTP/1.1\r\nhost: x\r\nx-half: ');
    if (index % 3 === 2) socket.end();
  }
  const served = await openConnection(server);
  served.write(`GET /readyz HTTP/1.1\r\nhost: x\r\nconnection: close\r\nauthorization: Bearer ${server.token}\r\n\r\n`);
  assert.match(await readToEnd(served), /^HTTP\/1\.1 200 /);
  const dawdling = sockets.filter((socket, index) => index % 3 === 1 && !socket.destroyed);
  await Promise.all(dawdling.map(readToEnd));
  await closeConnections(sockets);
}
