import assert from 'node:assert/strict';
import { test } from 'node:test';
import { closeConnections, openConnection, openConnections, readToEnd } from '../../fuzz/connections.ts';
import { fuzzRequests, prepareServer, renderTally } from '../../fuzz/fuzz-requests.ts';
import { FuzzedServer } from '../../fuzz/fuzzed-server.ts';
import { Draw } from '../../soak/draw.ts';
import { seededRandom } from '../../soak/seeded-random.ts';

const REQUESTS = 5_000;

test(`${REQUESTS} broken requests: refused each by itself, and the server is none the worse`, async (t) => {
  const draw = new Draw(seededRandom(t));
  await using server = await FuzzedServer.start();
  await prepareServer(server);
  const tally = await fuzzRequests(server, draw, REQUESTS);
  t.diagnostic(renderTally(tally));
  const refused = [...tally].filter(([status]) => status >= 400 && status < 500).reduce((sum, [, n]) => sum + n, 0);
  assert.ok(refused > REQUESTS / 3, renderTally(tally));
  assert.ok((tally.get(201) ?? 0) > 0 && (tally.get(200) ?? 0) > 0, 'sound requests are among them');
});

test('connections that dawdle, close halfway or come in hundreds: others are served, and they go', async () => {
  await using server = await FuzzedServer.start();
  const dawdling = await openConnections(server, 50);
  for (const socket of dawdling) socket.write('GET /api HTTP/1.1\r\nhost: x\r\nx-slow: ');
  const idle = await openConnections(server, 300);
  const halfClosed = await openConnection(server, true);
  halfClosed.end(`GET /api HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${server.token}\r\n\r\n`);
  assert.match(await readToEnd(halfClosed), /^HTTP\/1\.1 200 [^]*"APIVersions"/);
  await Promise.all(
    dawdling.map(async (socket) => {
      // One byte now and then must not keep the headers open.
      const drip = setInterval(() => socket.write('x'), 500);
      await readToEnd(socket).finally(() => clearInterval(drip));
    }),
  );
  await closeConnections([...idle, ...dawdling]);
  assert.deepEqual((await server.report()).complaints, []);
});
