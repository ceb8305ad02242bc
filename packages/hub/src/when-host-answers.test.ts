import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ClientError } from '@asterism/client';
import { ManualClock } from '@asterism/client/testing';
import { failure } from '@asterism/machinery';
import { silentLogger } from '@asterism/runtime';
import { HubError } from './hub-error.ts';
import { whenHostAnswers } from './when-host-answers.ts';

const network = (code: string) => new ClientError(`no answer: ${code}`, { code });

/** Fails with each of these in turn, then succeeds. Resolves with what came of it and for how long it waited. */
async function outcome(...errors: unknown[]): Promise<{ result: unknown; waited: number }> {
  const clock = new ManualClock();
  const began = clock.wall().getTime();
  let settled = false;
  const call = async (): Promise<string> => {
    await Promise.resolve();
    const error = errors.shift();
    if (error) throw error;
    return 'fine';
  };
  const patience = { server: 'https://host', clock, logger: silentLogger, signal: new AbortController().signal };
  const calling = whenHostAnswers(call, patience)
    .catch((error: unknown) => error)
    .finally(() => (settled = true));
  while (!settled) {
    await new Promise((resolve) => setImmediate(resolve));
    const [next] = clock.pending();
    if (next !== undefined) clock.advance(next);
  }
  return { result: await calling, waited: clock.wall().getTime() - began };
}

describe('a host that does not answer', () => {
  test('is waited for, however long it takes', async () => {
    const away = Array.from({ length: 50 }, () => network('ECONNREFUSED'));
    const { result, waited } = await outcome(...away, failure(503, 'starting'), failure(429, 'busy'));
    assert.equal(result, 'fine');
    assert.ok(waited > 300_000, String(waited));
  });

  test('that is another, or cannot be talked to, is not', async () => {
    for (const code of [
      'ERR_TLS_CERT_ALTNAME_INVALID',
      'SELF_SIGNED_CERT_IN_CHAIN',
      'CERT_HAS_EXPIRED',
      'ERR_KUBECONFIG',
    ]) {
      const { result, waited } = await outcome(network(code));
      assert.ok(result instanceof HubError, code);
      assert.deepEqual([result.code, waited], ['HostUnusable', 0]);
      assert.match(result.message, new RegExp(`https://host.*${code}`));
    }
  });

  test('that refuses is given the time to learn its own roles, and no more', async () => {
    assert.equal((await outcome(failure(403, 'not yet'), failure(401, 'not yet'))).result, 'fine');
    const refused = Array.from({ length: 50 }, () => failure(403, 'cannot list clusters'));
    const { result, waited } = await outcome(...refused);
    assert.ok(result instanceof HubError && result.code === 'HostRefuses');
    assert.match(result.message, /cannot list clusters.*aster hub manifests/);
    assert.ok(waited >= 30_000 && waited < 60_000, String(waited));
  });

  test('is known by what went wrong, however it is told on', async () => {
    const wrapped = new Error('the ConfigMap could not be read', { cause: network('ECONNRESET') });
    assert.equal((await outcome(wrapped, wrapped)).result, 'fine');
    const refused = new HubError('TemplatesElsewhere', 'no', network('ECONNRESET'));
    assert.equal((await outcome(refused)).result, refused);
    const fault = new TypeError('ours');
    assert.equal((await outcome(fault)).result, fault);
  });

  test('is not waited for any longer than whoever asks wants', async () => {
    const abort = new AbortController();
    const patience = { server: 'https://host', clock: new ManualClock(), logger: silentLogger, signal: abort.signal };
    const waiting = whenHostAnswers(() => Promise.reject(network('ECONNREFUSED')), patience);
    abort.abort(new Error('enough'));
    await assert.rejects(waiting, /enough/);
  });
});
