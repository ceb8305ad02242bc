import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { describe, test } from 'node:test';
import { ClientError, createClient, systemClock, type Transport, type TransportResponse } from '@asterism/client';
import { checkReadiness } from './check-readiness.ts';

type Answer = (signal: AbortSignal | undefined) => Promise<TransportResponse>;

const answering = (status: number, text: string): Answer => {
  return () => Promise.resolve({ status, headers: {}, body: Readable.from([Buffer.from(text)]) });
};
const hanging: Answer = (signal) =>
  new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason as Error)));
const refusing: Answer = () =>
  Promise.reject(new ClientError('no', { code: 'ECONNREFUSED', server: 'https://member', cause: undefined }));

function memberThat(answer: Answer) {
  const transport: Transport = {
    request: ({ signal }) => answer(signal),
    upgrade: () => Promise.reject(new Error('not asked for')),
    close: () => Promise.resolve(),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
  return createClient({ transport });
}

const never = new AbortController().signal;
const options = { clock: systemClock, timeoutMs: 50 };

const ok = { ok: true };
const silent = (message: string) => ({ livez: { ok: false, message }, readyz: { ok: false, message } });
const failing = (path: string) => ({ ok: false, failing: ['etcd'], message: `${path} answers 500: failing are etcd` });

describe('readiness of a member', () => {
  for (const [what, answer, expected] of [
    [
      'that is well',
      answering(200, 'ok'),
      {
        answers: true,
        ready: true,
        reason: 'ClusterReady',
        message: 'the API server answers and says that it is ready',
        probes: { livez: ok, readyz: ok },
      },
    ],
    [
      'that says what fails',
      answering(500, '[+]ping ok\n[-]etcd failed: reason withheld\n'),
      {
        answers: true,
        ready: false,
        reason: 'ApiServerNotReady',
        message: '/readyz answers 500: failing are etcd',
        probes: { livez: failing('/livez'), readyz: failing('/readyz') },
      },
    ],
    [
      'that does not know who asks',
      answering(401, 'Unauthorized'),
      {
        answers: true,
        ready: false,
        reason: 'CredentialRefused',
        message: 'the API server answers 401 to the agent: its credential is no longer accepted there',
        probes: {
          livez: { ok: false, message: '/livez answers 401' },
          readyz: { ok: false, message: '/readyz answers 401' },
        },
      },
    ],
    [
      'that does not let it ask',
      answering(403, 'forbidden'),
      {
        answers: true,
        ready: false,
        reason: 'HealthForbidden',
        message: 'the API server answers 403 to the agent: it may not read /readyz there; apply its manifests again',
        probes: {
          livez: { ok: false, message: '/livez answers 403' },
          readyz: { ok: false, message: '/readyz answers 403' },
        },
      },
    ],
    [
      'that is not there',
      refusing,
      {
        answers: false,
        ready: false,
        reason: 'ApiServerUnreachable',
        message: 'the agent cannot reach its API server: ECONNREFUSED',
        probes: silent('ECONNREFUSED'),
      },
    ],
    [
      'that hangs',
      hanging,
      {
        answers: false,
        ready: false,
        reason: 'ApiServerUnreachable',
        message: 'the agent cannot reach its API server: no answer within 0.05 s',
        probes: silent('no answer within 0.05 s'),
      },
    ],
  ] as const) {
    test(`of one ${what}`, async () => {
      assert.deepEqual(await checkReadiness(memberThat(answer), options, never), expected);
    });
  }

  test('rejects when its caller stops, not before', async () => {
    const abort = new AbortController();
    const asked = checkReadiness(memberThat(hanging), { clock: systemClock, timeoutMs: 60_000 }, abort.signal);
    abort.abort(new Error('stopped'));
    await assert.rejects(asked, /stopped/);
  });
});
