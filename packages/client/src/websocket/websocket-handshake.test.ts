import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Headers } from '../transport.ts';
import { acceptKey, answerWebSocket, isWebSocketRequest, requestWebSocket } from './websocket-handshake.ts';

describe('the WebSocket handshake', () => {
  test('answers the key of RFC 6455, 1.3', () => {
    assert.equal(acceptKey('dGhlIHNhbXBsZSBub25jZQ=='), 's3pPLMBiTxaQ9kYGzzhZRbK+xOo=');
  });

  test('both halves agree on the first subprotocol that both know, or on none', () => {
    const asked = requestWebSocket(['v5', 'v4']);
    assert.ok(isWebSocketRequest(asked.headers));
    const answer = answerWebSocket(asked.headers, ['v4', 'v3']);
    assert.ok('protocol' in answer && answer.protocol === 'v4');
    assert.equal(asked.check(answer.headers), 'v4');
    const plain = requestWebSocket();
    const agreed = answerWebSocket(plain.headers, ['v4']);
    assert.ok('protocol' in agreed && agreed.protocol === '');
    assert.equal(plain.check(agreed.headers), '');
    assert.notEqual(asked.headers['sec-websocket-key'], plain.headers['sec-websocket-key']);
  });

  const { headers } = requestWebSocket(['v4']);
  const refusals: [name: string, headers: Headers, status: number, message: RegExp][] = [
    ['no key', { ...headers, 'sec-websocket-key': undefined }, 400, /Sec-WebSocket-Key/],
    ['a key that is none', { ...headers, 'sec-websocket-key': 'abc' }, 400, /Sec-WebSocket-Key/],
    ['another version', { ...headers, 'sec-websocket-version': '8' }, 400, /Version/],
    ['no common subprotocol', { ...headers, 'sec-websocket-protocol': 'x' }, 403, /\[x\]; supports \[v4\]/],
  ];
  for (const [name, given, status, message] of refusals) {
    test(`a server refuses ${name}`, () => {
      const answer = answerWebSocket(given, ['v4']);
      assert.ok('refused' in answer);
      assert.equal(answer.refused.status, status);
      assert.match(answer.refused.message, message);
    });
  }

  const asked = requestWebSocket(['v4']);
  const agreed = answerWebSocket(asked.headers, ['v4']) as { headers: Record<string, string> };
  const breaches: [name: string, change: Headers, message: RegExp][] = [
    ['another protocol', { upgrade: 'h2c' }, /something else/],
    ['the accept of another key', { 'sec-websocket-accept': acceptKey('x') }, /another request/],
    ['an extension', { 'sec-websocket-extensions': 'permessage-deflate' }, /extension/],
    ['a subprotocol that nobody asked for', { 'sec-websocket-protocol': 'v9' }, /"v9" unasked/],
  ];
  for (const [name, change, message] of breaches) {
    test(`a client refuses ${name}`, () => {
      assert.throws(() => asked.check({ ...agreed.headers, ...change }), { code: 'ERR_WEBSOCKET', message });
    });
  }
});
