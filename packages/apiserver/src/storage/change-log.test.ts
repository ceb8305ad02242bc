import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ChangeLog } from './change-log.ts';
import type { Committed } from './storage.ts';

const BOUNDS = { milliseconds: 100, changes: 100_000, bytes: 1024 * 1024 * 1024 };
const changes = (from: number, count: number): Committed[] =>
  Array.from({ length: count }, (_, at) => ({
    groupResource: 'configmaps',
    namespace: 'default',
    name: 'a',
    type: 'put' as const,
    revision: from + at,
    value: Buffer.from('{}'),
    change: undefined,
  }));

describe('the log of changes', () => {
  test('is not cut with each commit, but after five hundred changes', () => {
    const log = new ChangeLog(BOUNDS);
    log.add(changes(1, 499), 0);
    assert.equal(log.nextCut(1_000, false), undefined);
    log.add(changes(500, 1), 1_000);
    assert.equal(log.nextCut(1_000, false), 499);
  });

  test('is cut a thousand changes at a time, and keeps what is within the bounds', () => {
    const log = new ChangeLog(BOUNDS);
    log.add(changes(1, 1_500), 0);
    assert.equal(log.nextCut(1_000, false), 1_000);
    assert.equal(log.nextCut(1_000, false), 1_500);
    log.add(changes(1_501, 600), 1_000);
    assert.equal(log.nextCut(1_000, false), undefined);
  });

  test('is cut with each commit on a full disk, twenty changes at a time, however young they are', () => {
    const log = new ChangeLog(BOUNDS);
    log.add(changes(1, 30), 0);
    assert.equal(log.nextCut(0, false), undefined);
    assert.equal(log.nextCut(0, true), 20);
    assert.equal(log.nextCut(0, true), 30);
  });

  test('of which nothing was read at the start is cut by the next commit', () => {
    const log = new ChangeLog(BOUNDS);
    log.restore({ history: [], compacted: 7 });
    assert.equal(log.nextCut(0, false), 7);
  });
});
