import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { test } from 'node:test';
import { until } from '@asterism/client/testing';
import { execSocket, SWITCH } from './testing/exec.ts';
import { startTunnel, textOf } from './testing/start-tunnel.ts';

const GET = { method: 'GET', path: '/' };

test('many short calls at a time get a second connection, which goes when nobody needs it', async () => {
  const waiting: ServerResponse[] = [];
  await using tunnel = await startTunnel({
    handler: (_request, response) => waiting.push(response),
    limits: { spareIdleMs: 300 },
  });
  await tunnel.startAgent('edge', { connections: { short: { atRest: 1, most: 2 } } });
  const short = (): number | undefined => tunnel.hub.counters('edge')?.connections.short;
  const transport = tunnel.hub.transport('edge');
  const few = Array.from({ length: 8 }, () => transport.request(GET));
  await until(() => waiting.length === 8);
  assert.equal(short(), 1);
  const more = Array.from({ length: 40 }, () => transport.request(GET));
  await until(() => short() === 2 && waiting.length === 48);
  for (const response of waiting) response.end('fine');
  const texts = await Promise.all([...few, ...more].map(async (answer) => await textOf((await answer).body)));
  assert.deepEqual(new Set(texts), new Set(['fine']));
  await until(() => short() === 1);
  const last = transport.request(GET);
  await until(() => waiting.length === 49);
  waiting.at(-1)?.end('still');
  assert.equal(await textOf((await last).body), 'still');
});

test('who takes byte pipes finds more of them, and what waits too long goes, but for what is kept at rest', async () => {
  await using tunnel = await startTunnel({
    onUpgrade: (_request, socket) => socket.write(SWITCH),
    limits: { spareIdleMs: 300 },
  });
  await tunnel.startAgent('edge', { connections: { upgrade: { atRest: 1, most: 4 } } });
  const transport = tunnel.hub.transport('edge');
  const pipes = (): number => tunnel.hub.counters('edge')?.connections.upgrade ?? 0;
  const sockets = [];
  for (let taken = 1; taken <= 5; taken++) {
    sockets.push(await execSocket(transport));
    await until(() => pipes() >= taken + Math.min(4, taken + 1));
    assert.ok(pipes() <= taken + 4);
  }
  await until(() => pipes() === 5 + 1);
  for (const socket of sockets) socket.destroy();
  await until(() => pipes() === 1);
});
