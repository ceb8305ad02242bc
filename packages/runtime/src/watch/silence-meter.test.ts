import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Readable } from 'node:stream';
import type { Transport, TransportResponse } from '@asterism/client';
import { ManualClock } from '@asterism/client/testing';
import { SilenceMeter } from './silence-meter.ts';

function metered() {
  const clock = new ManualClock();
  const meter = new SilenceMeter(clock);
  const answers: ((status?: number) => void)[] = [];
  const ask = (): Promise<TransportResponse> =>
    new Promise((resolve, reject) => {
      answers.push((status) =>
        status
          ? resolve({ status, headers: {}, body: Readable.from([]) })
          : reject(new Error('the connection was lost')),
      );
    });
  const transport = meter.listen({ request: ask, upgrade: ask } as unknown as Transport);
  const request = (more: object = {}) => transport.request({ method: 'GET', path: '/', ...more }).catch(() => {});
  const answer = async (index: number, status?: number): Promise<void> => {
    answers[index]?.(status);
    await new Promise(setImmediate);
  };
  return { clock, meter, request, answer };
}

test('a server is silent from the oldest request that has no answer, or from its last answer', async () => {
  const { clock, meter, request, answer } = metered();
  assert.equal(meter.silentMs, 0);
  clock.advance(1_000);
  void request();
  clock.advance(2_000);
  void request();
  clock.advance(3_000);
  assert.equal(meter.silentMs, 5_000);
  await answer(1, 503);
  assert.equal(meter.silentMs, 0);
  clock.advance(500);
  assert.equal(meter.silentMs, 500);
  await answer(0, 200);
  clock.advance(10_000);
  assert.equal(meter.silentMs, 0);
});

test('what fails is no answer, and is waited for no more; a watch may be silent', async () => {
  const { clock, meter, request, answer } = metered();
  void request();
  void request({ long: true });
  clock.advance(4_000);
  void request();
  await answer(2);
  assert.equal(meter.silentMs, 4_000);
  await answer(0);
  clock.advance(4_000);
  assert.equal(meter.silentMs, 0);
});
