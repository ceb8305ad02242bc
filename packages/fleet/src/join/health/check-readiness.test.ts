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

describe('readiness of a member', () => {
  for (const [what, answer, expected] of [
    ['that is well', answering(200, 'ok'), { ready: true }],
    [
      'that says what fails',
      answering(500, '[+]ping ok\n[-]etcd failed\n'),
      { ready: false, reason: 'ApiServerNotReady', message: '/readyz answers 500: failing are etcd' },
    ],
    [
      'that is not there',
      refusing,
      { ready: false, reason: 'ApiServerUnreachable', message: 'the agent cannot reach its API server: ECONNREFUSED' },
    ],
    [
      'that hangs',
      hanging,
      {
        ready: false,
        reason: 'ApiServerUnreachable',
        message: 'the agent cannot reach its API server: no answer within 0.05 s',
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
