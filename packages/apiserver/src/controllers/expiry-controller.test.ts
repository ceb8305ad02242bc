import assert from 'node:assert/strict';
import { test } from 'node:test';
import { names, openTestRegistry, TEST_USER } from '../compose/testing/test-registry.ts';
import { startExpiryController } from './expiry-controller.ts';

const MINUTE = 60_000;

const event = (name: string) => ({
  metadata: { name },
  involvedObject: { kind: 'Pod', name: 'p', namespace: 'default' },
});

test('events go an hour after their last write, those that were there before and those that came since', async () => {
  let now = Date.parse('2026-01-01T00:00:00Z');
  const clock = (): number => now;
  const stop = new AbortController();
  await using t = await openTestRegistry({ clock });
  const left = async () => names((await t.registry.list(t.resource('v1/events'))).items);
  await t.create('v1/events', event('old'));
  await t.create('v1/events', event('renewed'));
  now += 40 * MINUTE;
  await t.create('v1/events', event('new'));
  const renewed = { namespace: 'default', name: 'renewed' };
  await t.registry.patch(t.resource('v1/events'), renewed, { type: 'merge', body: { count: 2 } }, t.context());
  now += 30 * MINUTE;
  let gone = Promise.withResolvers<void>();
  let awaited = 1;
  t.registry.observe(({ type }) => {
    if (type === 'delete' && --awaited === 0) gone.resolve();
  });
  const afterMinutes = async (minutes: number, count: number): Promise<string[]> => {
    gone = Promise.withResolvers<void>();
    awaited = count;
    now += minutes * MINUTE;
    await gone.promise;
    return await left();
  };
  const controller = startExpiryController({
    registry: t.registry,
    user: TEST_USER,
    signal: stop.signal,
    clock,
    onError: (_what: string, error: unknown): void => gone.reject(error),
    intervalMilliseconds: 5,
  });
  const alive = setInterval(() => {}, 1000);
  assert.deepEqual(await afterMinutes(0, 1), ['new', 'renewed']);
  await t.create('v1/events', event('later'));
  assert.deepEqual(await afterMinutes(30, 2), ['later']);
  assert.deepEqual(await afterMinutes(61, 1), []);
  clearInterval(alive);
  stop.abort();
  await controller.settled();
});
