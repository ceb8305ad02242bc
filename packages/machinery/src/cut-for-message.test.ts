import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cutForMessage } from './cut-for-message.ts';
import { invalid } from './status.ts';

test('a long text is cut, and its length is said', () => {
  assert.equal(cutForMessage('abc'), 'abc');
  assert.equal(cutForMessage('abcdef', 3), 'abc... (6 characters)');
});

test('what is no text is shown, whatever a body has in the place of a name', () => {
  for (const [value, shown] of [
    [['a', 'b'], 'a,b'],
    [12, '12'],
    [true, 'true'],
    [{}, '[object Object]'],
  ] as const) {
    assert.equal(cutForMessage(value), shown);
    const { message } = invalid({ group: '', kind: 'Widget' }, value as unknown as string, []);
    assert.ok(message.includes(`"${shown}"`), message);
  }
});
