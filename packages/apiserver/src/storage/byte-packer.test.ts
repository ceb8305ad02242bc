import assert from 'node:assert/strict';
import { afterEach, beforeEach, mock, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { BytePacker } from './byte-packer.ts';
import { ResourceCache } from './resource-cache.ts';
import { StoredObject } from './stored-object.ts';

const textOf = (index: number, revision = 1): string =>
  `{"index":${index},"revision":${revision},"${'x'.repeat(200)}":0}`;

/** A cache of objects, each with memory of its own, and what packs them. */
function packing(count: number) {
  const cache = new ResourceCache(0);
  const packer = new BytePacker(() => [cache]);
  const change = (index: number, revision: number, type: 'put' | 'delete' = 'put'): void => {
    const key = `k-${index}`;
    const object = new StoredObject(Buffer.from(textOf(index, revision)), revision);
    const event = { type, key, namespace: '', revision, time: 0, object, previous: cache.get(key) };
    cache.apply(event);
    packer.note(event);
  };
  for (let index = 0; index < count; index++) change(index, 1);
  const slabs = () => new Set([...cache.objects()].map(({ slab }) => slab));
  const texts = () => [...cache.objects()].map(({ bytes }) => bytes.toString());
  return { cache, packer, change, slabs, texts };
}

/** One look after the other. */
async function pass(seconds: number): Promise<void> {
  for (let passed = 0; passed < seconds; passed += 3) {
    mock.timers.tick(3_000);
    await setImmediate();
  }
}

beforeEach(() => mock.timers.enable({ apis: ['setTimeout'] }));
afterEach(() => mock.timers.reset());

test('objects lie together afterwards, with the bytes that they had', async () => {
  const t = packing(5_000);
  const before = t.texts();
  await t.packer.pack();
  assert.deepEqual(t.texts(), before);
  assert.equal(t.slabs().size, 5);
  t.packer.stop();
});

test('one that is bigger than a slab has one to itself', async () => {
  const t = packing(0);
  const bytes = Buffer.alloc(300_000, 'x');
  const object = new StoredObject(bytes, 1);
  t.cache.load(new Map([['big', object]]), []);
  await t.packer.pack();
  assert.ok(object.slab && object.bytes.equals(bytes));
  t.packer.stop();
});

test('what is left in a slab most of which has gone is moved, what changed keeps its new bytes', async () => {
  const t = packing(3_000);
  await t.packer.pack();
  const [first] = t.slabs();
  const history = t.cache.get('k-0')!;
  for (let index = 0; index < 2_900; index++) t.change(index, 2, index % 2 ? 'put' : 'delete');
  await t.packer.pack();
  assert.ok(!t.slabs().has(first));
  assert.equal(t.texts().length, 1_550);
  assert.equal(t.cache.get('k-1')?.bytes.toString(), textOf(1, 2));
  assert.equal(t.cache.get('k-2999')?.bytes.toString(), textOf(2_999, 1));
  assert.equal(history.bytes.toString(), textOf(0, 1));
  t.packer.stop();
});

test('it waits until writing has calmed down, and for enough to move', async () => {
  const t = packing(1_000);
  const isPacked = () => t.cache.get('k-0')?.slab !== undefined;
  await pass(15);
  assert.ok(!isPacked(), 'all was written just now');
  await pass(3);
  assert.ok(isPacked());
  for (let index = 0; index < 100; index++) t.change(index, 2);
  await pass(30);
  assert.ok(!isPacked(), 'too few');
  t.packer.stop();
});

test('what is written again and again is let be, and is moved once that has ended', async () => {
  const t = packing(1_000);
  const isPacked = (index: number) => t.cache.get(`k-${index}`)?.slab !== undefined;
  let revision = 1;
  for (let beats = 0; beats < 20; beats++) {
    for (let index = 0; index < 300; index++) t.change(index, ++revision);
    await pass(9);
  }
  assert.ok(isPacked(999));
  assert.ok(!isPacked(0));
  await pass(30);
  assert.ok(isPacked(0));
  t.packer.stop();
});
