import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { KubeObject } from '@asterism/machinery';
import { openTestRegistry, TEST_USER, type TestRegistry } from '../compose/testing/test-registry.ts';
import { startOwnStatusController } from './own-status-controller.ts';

const FLOWS = 'flowcontrol.apiserver.k8s.io/v1/flowschemas';
const LEVELS = 'flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations';
const SERVICES = 'apiregistration.k8s.io/v1/apiservices';
const LEVEL = { type: 'Limited', limited: { limitResponse: { type: 'Reject' } } };
const REMOTE = { group: 'g.example.com', version: 'v1', groupPriorityMinimum: 1000, versionPriority: 10 };

interface Running extends TestRegistry {
  conditions(place: string, name: string): Promise<string[]>;
}

async function start(): Promise<Running> {
  const t = await openTestRegistry();
  const stop = new AbortController();
  const controller = startOwnStatusController({
    registry: t.registry,
    user: TEST_USER,
    signal: stop.signal,
    clock: Date.now,
    onError: (what, error) => assert.fail(`${what}: ${String(error)}`),
  });
  return {
    ...t,
    async conditions(place, name) {
      await controller.settled();
      const found = (await t.registry.get(t.resource(place), { name })).parse() as KubeObject & {
        status?: { conditions?: Record<string, string>[] };
      };
      return (found.status?.conditions ?? []).map(({ type, status, reason }) => `${type} ${status} ${reason}`);
    },
    async [Symbol.asyncDispose]() {
      stop.abort();
      await t.registry.close();
    },
  };
}

const flow = (name: string, level: string) => ({
  metadata: { name },
  spec: { matchingPrecedence: 9000, priorityLevelConfiguration: { name: level } },
});

describe('what the server says of its own configuration', () => {
  test('a FlowSchema dangles until its level is there, and again when it is gone', async () => {
    await using t = await start();
    await t.create(FLOWS, flow('a', 'l'));
    assert.deepEqual(await t.conditions(FLOWS, 'a'), ['Dangling True NotFound']);
    await t.create(LEVELS, { metadata: { name: 'l' }, spec: LEVEL });
    assert.deepEqual(await t.conditions(FLOWS, 'a'), ['Dangling False Found']);
    await t.registry.delete(t.resource(LEVELS), { name: 'l' }, {}, t.context());
    assert.deepEqual(await t.conditions(FLOWS, 'a'), ['Dangling True NotFound']);
  });

  test('a level that every server has need not be stored', async () => {
    await using t = await start();
    await t.create(FLOWS, flow('a', 'global-default'));
    assert.deepEqual(await t.conditions(FLOWS, 'a'), ['Dangling False Found']);
  });

  test('an APIService of this server is available; whether another one is, is not for this controller to say', async () => {
    await using t = await start();
    await t.create(SERVICES, { metadata: { name: 'v1.g.example.com' }, spec: REMOTE });
    assert.deepEqual(await t.conditions(SERVICES, 'v1.g.example.com'), ['Available True Local']);
    const service = { namespace: 'default', name: 's' };
    const name = 'v1.h.example.com';
    const spec = { ...REMOTE, group: 'h.example.com', service, insecureSkipTLSVerify: true };
    await t.create(SERVICES, { metadata: { name }, spec });
    assert.deepEqual(await t.conditions(SERVICES, name), []);
  });
});
