import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { decodeHeaderText } from './header-text.ts';
import { identityFault, identityHeaders, readExtraKey, readIdentityHeader } from './identity-headers.ts';

const CARRIED = [
  'alice',
  'a,b',
  'a b',
  'šŤŭũŮ',
  'Jürgen',
  '山田',
  'Zoà',
  'Å',
  '😀',
  'a\u{10ffff}',
  'x\ufffe',
  '__proto__',
];
const NOT_CARRIED = [
  '',
  ' u1',
  'u1 ',
  '\tu1',
  'u1\t',
  '\u00a0u1',
  'u1\u3000',
  'a\u007f',
  'a\nb',
  'a\r\nx: y',
  'a\0',
  'a\u0085b',
  '\ud800',
  'a\udc00b',
];

describe('a name', () => {
  for (const name of CARRIED) {
    test(`${JSON.stringify(name)} arrives exactly, as user, group, uid and extra`, () => {
      const extra = Object.fromEntries([[name.replace(/[A-Z]/g, 'c'), [name, '']]]);
      const headers = identityHeaders({ user: name, groups: [name, 'g'], uid: name, extra });
      assert.deepEqual(readIdentityHeader(headers['impersonate-user']), [name]);
      assert.deepEqual(readIdentityHeader(headers['impersonate-uid']), [name]);
      assert.deepEqual(readIdentityHeader(headers['impersonate-group']), [name, 'g']);
      const [key = ''] = Object.keys(headers).filter((each) => each.startsWith('impersonate-extra-'));
      assert.deepEqual([readExtraKey(key.slice('impersonate-extra-'.length))], Object.keys(extra));
      assert.match(key, /^[!#$%&'*+\-.^_`|~0-9a-z]+$/);
      assert.deepEqual(readIdentityHeader(headers[key]), [name, '']);
      for (const value of Object.values(headers).flat()) assert.match(value ?? '', /^[\x20-\x7e\x80-\xff]*$/);
    });
  }
  for (const name of NOT_CARRIED) {
    test(`${JSON.stringify(name)} is refused, wherever it is`, () => {
      const identities = [
        { user: name },
        { user: 'u', groups: ['g', name] },
        ...(name === ''
          ? []
          : [
              { user: 'u', uid: name },
              { user: 'u', extra: { key: ['v', name] } },
            ]),
      ];
      for (const identity of identities) {
        assert.notEqual(identityFault(identity), undefined);
        assert.throws(() => identityHeaders(identity), { code: 'ERR_IDENTITY' });
      }
    });
  }
  test('an extra key that has no UTF-8, or is empty, is refused', () => {
    for (const key of ['', '\ud800']) assert.throws(() => identityHeaders({ user: 'u', extra: { [key]: ['v'] } }));
  });
});

test('two keys never become one', () => {
  const keys = ['a', '%41', '%61', '(', 'é', 'É', 'a/b', "a'b"];
  const headers = identityHeaders({ user: 'u', extra: Object.fromEntries(keys.map((key) => [key, ['v']])) });
  const read = Object.keys(headers).map((name) => readExtraKey(name.replace('impersonate-extra-', '')));
  assert.deepEqual(read, ['impersonate-user', ...keys]);
  assert.notEqual(identityFault({ user: 'u', extra: { A: ['v'] } }), undefined);
});

test('a front proxy names a user by the same function', () => {
  assert.deepEqual(
    identityHeaders({ user: 'ü', groups: ['g'], uid: '1', extra: { K: ['v'], k: ['w'] } }, 'x-remote-'),
    {
      'x-remote-user': 'Ã¼',
      'x-remote-uid': '1',
      'x-remote-group': ['g'],
      'x-remote-extra-k': ['v', 'w'],
    },
  );
});

test('bytes that are not UTF-8 name nobody', () => {
  for (const value of ['J\xfcrgen', '\xc0\x80', '\xed\xa0\x80', 'a\u0161']) {
    assert.equal(decodeHeaderText(value), undefined, JSON.stringify(value));
    assert.equal(readIdentityHeader(['fine', value]), undefined);
  }
  assert.equal(readExtraKey('a%ff'), undefined);
  assert.equal(readExtraKey('a%zz'), 'a%zz');
});
