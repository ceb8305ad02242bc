import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StatusError } from '@asterism/machinery';
import { TerminalError } from './reconcile.ts';
import { failure } from '../testing/fake-api.ts';
import { isPanic } from './is-panic.ts';

/** What a function throws. */
function thrownBy(act: () => unknown): unknown {
  try {
    act();
  } catch (error) {
    return error;
  }
  throw new Error('nothing was thrown');
}

const nothing = undefined as unknown as { spec: { replicas: number } };

const CASES: [name: string, error: unknown, panic: boolean][] = [
  ['a field of undefined', thrownBy(() => nothing.spec.replicas), true],
  ['a number out of range', thrownBy(() => 'x'.repeat(-1)), true],
  ['a name that is not there', new ReferenceError('missing is not defined'), true],
  ['an assertion', thrownBy(() => assert.equal(1, 2)), true],
  ['a string', 'broke', true],
  ['undefined', undefined, true],
  ['an error', new Error('not yet'), false],
  ['an error of its own class', new TerminalError('never'), false],
  ['an answer of the server', new StatusError(failure(409, 'Conflict')), false],
  ['JSON that is none', thrownBy(() => JSON.parse('{')), false],
  ['a lost connection of fetch', new TypeError('fetch failed', { cause: new Error('ECONNRESET') }), false],
];

for (const [name, error, panic] of CASES) {
  test(`${name} is ${panic ? 'a panic' : 'none'}`, () => assert.equal(isPanic(error), panic));
}
