import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { startTunnel } from '../testing/start-tunnel.ts';

test('what came of an answer right before it broke off reaches whoever reads it', async () => {
  await using tunnel = await startTunnel();
  const source = new Readable({ read() {} });
  const request = async () => ({ status: 200, headers: {}, body: source });
  await tunnel.startAgent('edge', { target: { ...tunnel.target, request } });
  source.push('begun');
  const { body } = await tunnel.hub.transport('edge').request({ method: 'GET', path: '/' });
  let bytes = 0;
  body.on('data', (piece: Buffer) => (bytes += piece.length));
  const broken = once(body, 'error');
  while (bytes < 5) await once(body, 'data');
  source.push(Buffer.alloc(20_000)); // More than a full read, which is told of when its turn is over.
  source.destroy(new Error('enough'));
  const [error] = (await broken) as [Error & { code?: string }];
  assert.deepEqual([error.code, bytes], ['ERR_TUNNEL_TARGET', 20_005]);
});
