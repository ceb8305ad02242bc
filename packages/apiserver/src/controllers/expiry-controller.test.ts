import assert from 'node:assert/strict';
import { test } from 'node:test';
import { names, openTestRegistry, TEST_USER } from '../registry/test-registry.ts';
import { startExpiryController } from './expiry-controller.ts';

test('events go an hour after their last write', async () => {
  let now = Date.parse('2026-01-01T00:00:00Z');
  const clock = (): number => now;
  const stop = new AbortController();
  await using t = await openTestRegistry({ clock });
  const event = (name: string) => ({
    metadata: { name },
    involvedObject: { kind: 'Pod', name: 'p', namespace: 'default' },
  });
  await t.create('v1/events', event('old'));
  await t.create('v1/events', event('renewed'));
  now += 40 * 60_000;
  await t.create('v1/events', event('new'));
  const renewed = { namespace: 'default', name: 'renewed' };
  await t.registry.patch(t.resource('v1/events'), renewed, { type: 'merge', body: { count: 2 } }, t.context());
  now += 30 * 60_000;
  const gone = Promise.withResolvers<void>();
  t.registry.observe(({ type }) => {
    if (type === 'delete') gone.resolve();
  });
  const onError = (_what: string, error: unknown): void => gone.reject(error);
  const options = {
    registry: t.registry,
    user: TEST_USER,
    signal: stop.signal,
    clock,
    onError,
    intervalMilliseconds: 5,
  };
  const controller = startExpiryController(options);
  const alive = setInterval(() => {}, 1000);
  await gone.promise;
  clearInterval(alive);
  stop.abort();
  await controller.settled();
  assert.deepEqual(names((await t.registry.list(t.resource('v1/events'))).items), ['new', 'renewed']);
});
