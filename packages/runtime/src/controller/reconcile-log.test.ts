import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ResourceType } from '@asterism/machinery';
import { createController } from './controller.ts';
import type { Logger } from '../log/logger.ts';
import { createManager } from '../lifecycle/manager.ts';
import { type Reconcile, TerminalError } from './reconcile.ts';
import { FakeApi } from '../testing/fake-api.ts';

const PODS: ResourceType = { group: '', version: 'v1', resource: 'pods', kind: 'Pod', namespaced: true };

interface Line {
  level: string;
  message: string;
  [field: string]: unknown;
}

function recordingLogger(lines: Line[], bound: object = {}): Logger {
  const at = (level: string) => (fields: object, message: string) =>
    void lines.push({ level, message, ...bound, ...fields });
  const child = (fields: object): Logger => recordingLogger(lines, { ...bound, ...fields });
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error'), child };
}

const nothing = undefined as unknown as { spec: unknown };

const CASES: [name: string, fail: () => unknown, level: string, message: RegExp][] = [
  ['an error', () => Promise.reject(new Error('not yet')), 'warn', /^reconcile failed: not yet$/],
  ['a terminal error', () => Promise.reject(new TerminalError('never')), 'error', /^reconcile failed for good: never$/],
  ['a panic', () => nothing.spec, 'error', /^reconcile failed by a mistake in its code: .*reading 'spec'/],
  ['no error at all', () => Promise.reject('broke'), 'error', /^reconcile failed by a mistake in its code: broke$/],
];

for (const [name, fail, level, message] of CASES) {
  test(`${name} is logged with the object and the reconcile's own id, which its own lines have too`, async () => {
    await using api = await FakeApi.start();
    const lines: Line[] = [];
    const manager = createManager({ client: api.client(), logger: recordingLogger(lines), random: () => 0 });
    const ids: string[] = [];
    const twice = Promise.withResolvers<void>();
    const reconcile: Reconcile = async (_, { logger, reconcileID }) => {
      logger.info({}, 'own line');
      ids.push(reconcileID);
      if (ids.length === 2) twice.resolve();
      if (ids.length === 1) await fail();
    };
    manager.add(createController({ name: 'pods', reconcile }).for(PODS));
    const abort = new AbortController();
    const stopped = manager.start(abort.signal);
    api.put('/api/v1/pods', { metadata: { name: 'a', namespace: 'n' } });
    while (!lines.some((line) => message.test(line.message))) await new Promise(setImmediate);
    api.put('/api/v1/pods', { metadata: { name: 'a', namespace: 'n', labels: { changed: 'yes' } } });
    await twice.promise;
    abort.abort();
    await stopped;
    const failed = lines.find((line) => message.test(line.message));
    const reconcileID = failed?.['reconcileID'];
    assert.deepEqual(
      [failed?.level, failed?.['controller'], failed?.['namespace'], failed?.['name']],
      [level, 'pods', 'n', 'a'],
    );
    assert.match(String(reconcileID), /^[0-9a-f]{8}-/);
    assert.deepEqual(
      lines
        .filter((line) => line.message === 'own line')
        .map((line) => line['reconcileID'])
        .slice(0, 2),
      ids,
    );
    assert.equal(ids[0], reconcileID);
    assert.notEqual(ids[0], ids[1]);
  });
}
