import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ClientError } from '@asterism/client';
import { forbidden } from '@asterism/machinery';
import { TunnelError } from '@asterism/tunnel';
import { reachFailure } from './reach-failure.ts';

const SERVER = 'https://10.0.0.7:6443';
const network = (code: string) => new ClientError(`cannot reach ${SERVER}`, { code, server: SERVER });
const tunnel = (reason: 'NOT_CONNECTED' | 'TARGET' | 'LOST') => new TunnelError(reason, `… ${SERVER} …`);

describe('what a caller is told of a member that gave no answer', () => {
  for (const [what, error, code, says] of [
    [
      'frozen, behind the hub itself',
      network('ERR_PING_TIMEOUT'),
      504,
      /cluster "edge-1" cannot be reached: its API server does not answer/,
    ],
    ['no connection in time', network('ETIMEDOUT'), 504, /firewall/],
    ['nobody listens', network('ECONNREFUSED'), 503, /cluster "edge-1" cannot be reached.*see whether it runs/],
    ['no agent', tunnel('NOT_CONNECTED'), 503, /cluster "edge-1".*its agent is not connected; see whether it runs/],
    [
      'no answer to the agent',
      tunnel('TARGET'),
      502,
      /cluster "edge-1" cannot be reached: its agent got no answer.*see whether that runs/,
    ],
  ] as const) {
    test(`${what}: which cluster, what to do, and no address`, () => {
      const failure = reachFailure(error, 'edge-1');
      assert.equal(failure.code, code);
      assert.match(failure.message, says);
      assert.doesNotMatch(failure.message, /10\.0\.0\.7/);
      assert.equal(failure.cause, error);
    });
  }

  test('of a destination its own name, which the caller gave', () => {
    const failure = reachFailure(tunnel('TARGET'), 'edge-1', 'https://registry.corp:443');
    assert.equal(failure.code, 502);
    assert.match(
      failure.message,
      /^https:\/\/registry\.corp:443 cannot be reached: the agent of cluster "edge-1" got no answer/,
    );
    assert.doesNotMatch(failure.message, /10\.0\.0\.7/);
  });

  test('what the hub itself refuses stays as it is', () => {
    const refusal = forbidden({ group: 'g', resource: 'r' }, 'edge-1', 'no');
    assert.equal(reachFailure(refusal, 'edge-1'), refusal);
  });
});
