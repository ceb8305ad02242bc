import assert from 'node:assert/strict';
import { setImmediate } from 'node:timers/promises';
import { test } from 'node:test';
import { collectBuffers } from './buffer-collection.ts';

test('buffers are collected every 8 MB, behind what has the last of them on its stack', async () => {
  let collections = 0;
  const buffers = collectBuffers(() => (collections += 1));
  for (let i = 0; i < 1023; i += 1) buffers.count(8 << 10);
  await setImmediate();
  assert.equal(collections, 0);
  buffers.count(8 << 10);
  assert.equal(collections, 0);
  await setImmediate();
  assert.equal(collections, 1);
  buffers.count(8 << 20);
  await setImmediate();
  assert.equal(collections, 2);
});

test('what is no longer used is freed, without a look at all that lives', async () => {
  const buffers = collectBuffers();
  for (let i = 0; i < 2_048; i += 1) buffers.count(new ArrayBuffer(16 << 10).byteLength);
  await setImmediate();
  const { arrayBuffers } = process.memoryUsage();
  assert.ok(arrayBuffers < 16 << 20, `of 32 MB that were passed on ${arrayBuffers} bytes are kept`);
});
