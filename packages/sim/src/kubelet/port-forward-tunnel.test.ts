import assert from 'node:assert/strict';
import { Duplex } from 'node:stream';
import { test } from 'node:test';
import { askUpgrade } from './testing/ask-upgrade.ts';
import { SpdyClient } from './testing/spdy-client.ts';
import { startTestKubelet } from './testing/start-test-kubelet.ts';
import { WebSocketClient } from './testing/websocket-client.ts';

/** The client's end of a tunnel: bytes in binary messages, cut anyhow. */
function tunnelOf(client: WebSocketClient): Duplex {
  let read = 0;
  const tunnel = new Duplex({
    read: () => {},
    write: (chunk: Buffer, _encoding, callback) => {
      const middle = chunk.length >> 1;
      client.frame(0x82, chunk.subarray(0, middle));
      client.frame(0x82, chunk.subarray(middle));
      callback();
    },
  });
  const follow = async (): Promise<void> => {
    for (;;) {
      await client.until(() => client.messages.length > read);
      while (read < client.messages.length) tunnel.push(client.messages[read++]);
    }
  };
  follow().catch(() => tunnel.push(null));
  return tunnel;
}

test('SPDY in the messages of a WebSocket', { timeout: 20_000 }, async () => {
  await using t = await startTestKubelet();
  const socket = await t.connect();
  const answer = await askUpgrade(socket, {
    method: 'GET',
    path: '/portForward/default/web',
    headers: {
      connection: 'Upgrade',
      upgrade: 'websocket',
      'sec-websocket-version': '13',
      'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
      'sec-websocket-protocol': 'SPDY/3.1+portforward.k8s.io',
    },
  });
  assert.equal(answer.headers.get('sec-websocket-protocol'), 'SPDY/3.1+portforward.k8s.io');
  const outer = new WebSocketClient(socket);
  const client = new SpdyClient(tunnelOf(outer));
  await client.open({ port: '80', requestid: '0', streamtype: 'error' });
  const data = await client.open({ port: '80', requestid: '0', streamtype: 'data' });
  const sent = Buffer.alloc(400_000, 'abc');
  client.send(data, sent, true);
  await client.until(() => data.ended);
  assert.ok(Buffer.concat(data.pieces).equals(sent));
  const dialed = t.backend.dialed[0]!;
  assert.ok(dialed.readableEnded);
  outer.frame(0x88, Buffer.from([0x03, 0xe8]));
  await outer.until(() => outer.closeCode !== undefined);
  assert.equal(outer.closeCode, 1000);
});
