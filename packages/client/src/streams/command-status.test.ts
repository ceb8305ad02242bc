import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type CommandOutcome, readCommandStatus } from './command-status.ts';

const exited = (code: string) =>
  JSON.stringify({ status: 'Failure', message: 'm', details: { causes: [{ reason: 'ExitCode', message: code }] } });

const rows: [name: string, text: string, expected: { code: number } | { message: string | RegExp }][] = [
  ['success', '{"metadata":{},"status":"Success"}', { code: 0 }],
  ['an exit code', exited('7'), { code: 7 }],
  ['an exit code beyond a byte', exited('3221225786'), { code: 3221225786 }],
  ['an exit code that is none', exited('x'), { message: 'm' }],
  [
    'a program that is not there',
    '{"status":"Failure","message":"Internal error occurred: exec: \\"nope\\": not found","reason":"InternalError","code":500}',
    { message: 'Internal error occurred: exec: "nope": not found' },
  ],
  ['a failure without words', '{"status":"Failure"}', { message: /did not say how/ }],
  ['words alone', 'container is gone\n', { message: 'container is gone\n' }],
  ['nothing', '', { message: /did not tell how/ }],
  ['JSON that is no Status', '[1]', { message: '[1]' }],
  ['a Status cut off', '{"status":"Succ', { message: '{"status":"Succ' }],
];
for (const [name, text, expected] of rows) {
  test(`the end of a command: ${name}`, () => {
    const outcome: CommandOutcome = readCommandStatus(text);
    if ('code' in expected) return assert.deepEqual(outcome, expected);
    assert.ok('error' in outcome);
    assert.equal(outcome.error.code, 'ERR_COMMAND');
    if (typeof expected.message === 'string') assert.equal(outcome.error.message, expected.message);
    else assert.match(outcome.error.message, expected.message);
  });
}
