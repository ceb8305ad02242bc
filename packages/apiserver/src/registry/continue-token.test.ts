import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeContinueToken, encodeContinueToken } from './continue-token.ts';

test('a token says where it goes on', () => {
  const token = { revision: 7, start: 'ns/name\0' };
  assert.deepEqual(decodeContinueToken(encodeContinueToken(token)), token);
});

const VERSION = '"v":"meta.k8s.io/v1"';
const rows: [token: string, fault: string][] = [
  ['!', 'illegal base64 data at input byte 0'],
  ['abcde', 'illegal base64 data at input byte 4'],
  ['', 'unexpected end of JSON input'],
  ['x', "invalid character 'x' looking for beginning of value"],
  ['[]', 'json: cannot unmarshal array into Go value of type storage.continueToken'],
  ['{"v":1}', 'json: cannot unmarshal number into Go struct field continueToken.v of type string'],
  ['{}', 'server does not recognize this encoded version '],
  [`{${VERSION}}`, 'incorrect encoded start resourceVersion (version meta.k8s.io/v1)'],
  [`{${VERSION},"rv":1}`, 'encoded start key empty (version meta.k8s.io/v1)'],
  [`{${VERSION},"rv":1,"start":"../x"}`, '../x'],
];

for (const [token, fault] of rows) {
  test(JSON.stringify(token), () => {
    const given = fault.startsWith('illegal') ? token : Buffer.from(token).toString('base64url');
    assert.throws(() => decodeContinueToken(given), { message: `continue key is not valid: ${fault}`, code: 500 });
  });
}
