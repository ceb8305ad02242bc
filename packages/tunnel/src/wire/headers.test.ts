import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  checkHeaders,
  forwardedHeaders,
  gatherHeaders,
  headerBytes,
  headerValue,
  type WireHeaders,
} from './headers.ts';

test('end-to-end headers: names in lower case, repeated values kept, hop-by-hop and own ones left out', () => {
  const given = {
    ':path': '/',
    Accept: 'application/json',
    Connection: ['close, X-Named', 'x-other'],
    'x-named': '1',
    'X-Other': '2',
    Host: 'hub',
    Upgrade: 'h2c',
    TE: 'trailers',
    'Transfer-Encoding': 'chunked',
    Expect: '100-continue',
    'Tunnel-Error': 'TARGET',
    'Impersonate-Group': ['a', 'b'],
    One: ['only'],
    Absent: undefined,
  };
  assert.deepEqual(forwardedHeaders(given), {
    accept: 'application/json',
    'impersonate-group': ['a', 'b'],
    one: 'only',
  });
  assert.deepEqual(forwardedHeaders(undefined), {});
});

test('raw headers are gathered without joining', () => {
  assert.deepEqual(gatherHeaders(['A', '1, 2', 'b', 'x', 'a', '3']), { a: ['1, 2', '3'], b: 'x' });
});

test('a header may have the name of anything that every object has', () => {
  const names = ['constructor', 'toString', 'hasOwnProperty', 'valueOf'];
  const headers = gatherHeaders(
    [...names, ...names].flatMap((name) => [name, 'x']).concat('__proto__', 'a', '__proto__', 'b'),
  );
  assert.deepEqual(headers, Object.fromEntries(names.map((name) => [name.toLowerCase(), ['x', 'x']])));
  assert.equal(Object.getPrototypeOf(headers), Object.prototype);
  assert.deepEqual(forwardedHeaders(JSON.parse('{"__proto__": ["a", "b"], "constructor": "x"}') as WireHeaders), {
    constructor: 'x',
  });
});

test('one value of a header, in any case', () => {
  assert.equal(headerValue({ 'X-A': ['1', '2'] }, 'x-a'), '1');
  assert.equal(headerValue({ a: 'b' }, 'c'), undefined);
});

test('what the receiver would drop in silence is an error that names the header and not its value', () => {
  const bad: WireHeaders[] = [{ 'a b': '1' }, { a: 'x\ny' }, { a: ['ok', 'secret\u0000'] }, { a: '\u{1F600}' }];
  for (const headers of bad) {
    assert.throws(
      () => checkHeaders(headers),
      (error: Error) => error.message.startsWith('header "a') && !/secret/.test(error.message),
    );
  }
  checkHeaders({ a: 'tab\tand é', b: ['1', '2'] });
});

test('the size of a list counts 32 for each field, as RFC 9113 does', () => {
  assert.equal(headerBytes({ ab: 'cde', f: ['g', 'é'] }), 5 + 32 + (2 + 32) + (3 + 32));
});
