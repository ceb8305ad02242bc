import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { names, openTestRegistry, refused, TEST_USER } from '../compose/testing/test-registry.ts';
import { createSqliteStorage } from '../storage/sqlite-storage.ts';
import { startNamespaceController } from './namespace-controller.ts';

/** A disk that is done at once, or when it is let go. */
class SlowDisk implements Disposable {
  #held: PromiseWithResolvers<() => void> | undefined;

  /** Resolves with what ends the next sync. */
  hold(): Promise<() => void> {
    this.#held = Promise.withResolvers();
    return this.#held.promise;
  }

  run(done: (error: Error | null) => void): void {
    const held = this.#held;
    this.#held = undefined;
    if (held) held.resolve(() => done(null));
    else done(null);
  }

  [Symbol.dispose](): void {}
}

test('what was on its way into a namespace when that began to go, goes with it', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'asterism-'));
  const disk = new SlowDisk();
  const storage = createSqliteStorage({ file: join(folder, 'a.db'), openFlush: () => disk });
  const stop = new AbortController();
  await using t = await openTestRegistry({ storage });
  const controller = startNamespaceController({
    registry: t.registry,
    user: TEST_USER,
    signal: stop.signal,
    clock: Date.now,
    onError: (_what, error) => assert.fail(String(error)),
  });
  await t.create('v1/namespaces', { metadata: { name: 'demo' } });
  const syncing = disk.hold();
  const deleted = t.registry.delete(t.resource('v1/namespaces'), { name: 'demo' }, {}, t.context());
  const goOn = await syncing;
  // Nobody has been told yet that the namespace goes.
  const created = t.create('v1/configmaps', { metadata: { name: 'a', namespace: 'demo' } });
  await setImmediate(); // By now it is queued behind.
  goOn();
  await Promise.all([deleted, created]);
  while ((await t.registry.list(t.resource('v1/namespaces'), { fieldSelector: 'metadata.name=demo' })).items.length > 0)
    await Promise.all([controller.settled(), t.registry.settled()]);
  await refused(t.get('v1/namespaces', 'demo'), 404);
  assert.deepEqual(names((await t.registry.list(t.resource('v1/configmaps'))).items), []);
  stop.abort();
  await rm(folder, { recursive: true });
});
