import assert from 'node:assert/strict';
import { test } from 'node:test';
import { IdleValue } from './idle-value.ts';

test('a value is made once while it is asked for, and again after nobody did', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  let made = 0;
  const value = new IdleValue(() => Promise.resolve(++made), 1_000);
  assert.deepEqual(await Promise.all([value.get(), value.get()]), [1, 1]);
  t.mock.timers.tick(900);
  assert.equal(await value.get(), 1);
  t.mock.timers.tick(900);
  assert.equal(await value.get(), 1, 'asking keeps it');
  t.mock.timers.tick(1_100);
  assert.equal(await value.get(), 2);
});

test('a failure is not kept', async () => {
  let tries = 0;
  const value = new IdleValue(() => (++tries === 1 ? Promise.reject(new Error('no')) : Promise.resolve('yes')), 1_000);
  await assert.rejects(value.get(), /no/);
  assert.equal(await value.get(), 'yes');
});
