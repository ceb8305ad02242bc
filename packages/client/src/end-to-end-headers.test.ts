import assert from 'node:assert/strict';
import { test } from 'node:test';
import { endToEndHeaders } from './end-to-end-headers.ts';

test('what belongs to one hop stays behind, also what Connection names and HTTP/2 says in its own way', () => {
  const headers = endToEndHeaders({
    ':path': '/api',
    Host: 'hub',
    Connection: 'keep-alive, X-Hop',
    'x-hop': '1',
    'Transfer-Encoding': 'chunked',
    Accept: 'application/json',
    'impersonate-group': ['a', 'b'],
    warning: ['one'],
    absent: undefined,
  });
  assert.deepEqual(headers, { accept: 'application/json', 'impersonate-group': ['a', 'b'], warning: 'one' });
});
