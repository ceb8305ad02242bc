import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatFinding } from './findings.ts';

const plain = (_: unknown, text: string): string => text;

test('a finding is one line, and a fault says what to do', () => {
  assert.equal(
    formatFinding({ check: 'clock', state: 'Fault', message: 'an hour\n  behind', remedy: 'set it' }, plain),
    'FAULT clock: an hour behind -> set it\n',
  );
  assert.equal(formatFinding({ check: 'hub', state: 'Fine', message: 'answers' }, plain), 'ok    hub: answers\n');
});
