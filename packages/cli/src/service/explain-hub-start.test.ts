import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ClientError } from '@asterism/client';
import { HubError } from '@asterism/hub';
import { describeError, exitCodeOf } from '../exit-code.ts';
import { explainHubStart } from './explain-hub-start.ts';

const system = (code: string) => Object.assign(new Error(`${code}: x`), { code });

for (const [name, error, says] of [
  ['what the hub says itself', new HubError('DataDirLocked', 'another hub runs on /d'), /^another hub runs on \/d$/],
  ['a data dir without room', system('ENOSPC'), /^data dir \/d: cannot be written \(ENOSPC\): .*--data-dir/],
  ['a kubeconfig of somebody else', new ClientError('cannot read k', { code: 'EACCES' }), /^cannot read k$/],
  ['a fault of our own', new TypeError('x is undefined'), /^x is undefined$/],
] as const) {
  test(`why a hub did not start: ${name}`, () => {
    const explained = explainHubStart(error, '/d');
    assert.match(describeError(explained), says);
    assert.equal(exitCodeOf(explained), 1);
  });
}
