import assert from 'node:assert/strict';
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

/** A worker whose units echo their configuration and run until they are stopped; `before` runs before its code is loaded. */
async function withWorker(before: string, use: (worker: ChildProcess) => Promise<void>): Promise<void> {
  const dir = await mkdtemp(join(tmpdir(), 'worker-'));
  const entry = join(dir, 'worker.ts');
  await writeFile(
    entry,
    `${before}
const { runWorker } = await import(${JSON.stringify(new URL('./run-worker.ts', import.meta.url).href)});
runWorker(async (config: string, signal: AbortSignal) => {
  if (config === 'bad') throw new Error('cannot');
  return { ready: config, done: new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve())) };
});
`,
  );
  const worker = fork(entry, [], { stdio: 'ignore' });
  try {
    await use(worker);
  } finally {
    worker.kill('SIGKILL');
    await rm(dir, { recursive: true });
  }
}

test('each unit tells how it went, and one that fails leaves the others', () =>
  withWorker('', async (worker) => {
    const messages: unknown[] = [];
    const both = new Promise<void>((resolve) => {
      worker.on('message', (message) => messages.push(message) === 2 && resolve());
    });
    worker.send({ unit: 'a', config: 'good' });
    worker.send({ unit: 'b', config: 'bad' });
    await both;
    assert.deepEqual(
      new Set(messages),
      new Set([
        { unit: 'a', type: 'ready', ready: 'good' },
        { unit: 'b', type: 'failed', message: 'cannot' },
      ]),
    );
    assert.equal(worker.exitCode, null);
  }));

test('it ends when its parent lets go, with its units stopped', () =>
  withWorker('', async (worker) => {
    worker.send({ unit: 'a', config: 'good' });
    await once(worker, 'message');
    worker.disconnect();
    assert.deepEqual(await once(worker, 'exit'), [0, null]);
  }));

test('it ends also when its parent was gone before its code was loaded', () =>
  withWorker("await new Promise((resolve) => process.once('disconnect', resolve));", async (worker) => {
    worker.disconnect();
    assert.deepEqual(await once(worker, 'exit'), [0, null]);
  }));

test('a terminal’s Ctrl-C is the parent’s to answer; SIGTERM stops it', () =>
  withWorker('', async (worker) => {
    worker.send({ unit: 'a', config: 'good' });
    await once(worker, 'message');
    worker.kill('SIGINT');
    worker.send({ unit: 'b', config: 'still here' });
    assert.deepEqual(await once(worker, 'message'), [{ unit: 'b', type: 'ready', ready: 'still here' }, undefined]);
    worker.kill('SIGTERM');
    assert.deepEqual(await once(worker, 'exit'), [0, null]);
  }));
