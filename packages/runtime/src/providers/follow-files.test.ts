import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { systemClock } from '@asterism/client';
import { ManualClock } from '@asterism/client/testing';
import { silentLogger } from '../log/logger.ts';
import { followFiles } from './follow-files.ts';

let folder: string;
let stop: AbortController;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'runtime-follow-'));
  stop = new AbortController();
});
afterEach(() => rm(folder, { recursive: true }));

/** Counts scans, and lets a test wait for the next one. */
function scanner(folders: () => string[]) {
  let count = 0;
  const waiters = new Set<() => void>();
  return {
    get count() {
      return count;
    },
    async scan(): Promise<Set<string>> {
      count++;
      for (const resolve of waiters) resolve();
      waiters.clear();
      return new Set(folders());
    },
    next: () => new Promise<void>((resolve) => waiters.add(resolve)),
  };
}

test('where nothing is told, it is read from time to time', async () => {
  const clock = new ManualClock();
  const scans = scanner(() => []);
  const { signal } = stop;
  const following = followFiles({ scan: scans.scan, rereadMs: 1000, clock, logger: silentLogger, signal });
  for (let i = 1; i <= 3; i++) {
    await clock.timer((ms) => ms === 1000);
    assert.equal(scans.count, i);
    clock.advance(1000);
  }
  stop.abort();
  await following;
});

test('what was read before its folder was watched is read again', async () => {
  const clock = new ManualClock();
  const scans = scanner(() => [folder]);
  const { signal } = stop;
  const following = followFiles({ scan: scans.scan, rereadMs: 1000, clock, logger: silentLogger, signal });
  await clock.timer((ms) => ms < 1000);
  clock.advance(100);
  await clock.timer((ms) => ms === 1000);
  assert.equal(scans.count, 2);
  stop.abort();
  await following;
});

test('a folder that is not there, then is, then is another', async () => {
  const inner = join(folder, 'inner');
  const scans = scanner(() => [folder, inner]);
  const { signal } = stop;
  const following = followFiles({ scan: scans.scan, rereadMs: 1e6, clock: systemClock, logger: silentLogger, signal });
  const after = async (change: () => Promise<unknown>): Promise<void> => {
    await new Promise(setImmediate);
    const next = scans.next();
    await change();
    await next;
  };
  await after(() => mkdir(inner));
  await after(() => writeFile(join(inner, 'a'), ''));
  await after(() => rename(inner, join(folder, 'old')));
  await after(() => mkdir(inner));
  await after(() => writeFile(join(inner, 'b'), ''));
  stop.abort();
  await following;
});

test('a disk that does not answer does not keep it from ending', async () => {
  const scan = (): Promise<Set<string>> => new Promise(() => {});
  const { signal } = stop;
  const following = followFiles({ scan, rereadMs: 1000, clock: new ManualClock(), logger: silentLogger, signal });
  stop.abort();
  await following;
});
