import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject } from '@asterism/machinery';
import { OwnWrites } from './own-writes.ts';

const at = (resourceVersion: string, uid = 'u'): KubeObject => ({ metadata: { name: 'a', resourceVersion, uid } });

test('what was written counts until the cache has it, or something newer, or another object', () => {
  for (const seen of [at('8'), at('9'), at('3', 'another')]) {
    const writes = new OwnWrites();
    assert.equal(writes.latest(at('5')).metadata?.resourceVersion, '5');
    writes.remember(at('8'));
    assert.equal(writes.latest(at('5')).metadata?.resourceVersion, '8');
    assert.equal(writes.latest(seen), seen);
    assert.equal(writes.latest(at('5')).metadata?.resourceVersion, '5', 'forgotten');
  }
});

test('an API server that was restored from a backup has only what is older: after a while that counts', () => {
  let now = 0;
  const writes = new OwnWrites(undefined, () => now);
  writes.remember(at('344'));
  now = 9_000;
  assert.equal(writes.latest(at('325')).metadata?.resourceVersion, '344', 'it may still come');
  now = 11_000;
  assert.equal(writes.latest(at('325')).metadata?.resourceVersion, '325');
});
