import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startTestServer } from '@asterism/apiserver/testing';
import { formatTime } from '@asterism/machinery';
import { createManager, silentLogger, watchResource } from '@asterism/runtime';
import {
  API_VERSION,
  CLUSTER_REGISTRATIONS,
  type ClusterRegistration,
  customResourceDefinitions,
} from '../../api/index.ts';
import { createRegistrationCleaner } from './registration-cleaner.ts';

const DAY_MS = 24 * 60 * 60_000;

test('what was settled goes after a week, a denial after a month; what waits for a person stays', async () => {
  await using server = await startTestServer({ crds: await customResourceDefinitions() });
  const registrations = server.client.resource(CLUSTER_REGISTRATIONS);
  let days = 0;
  const now = Date.now();
  const make = async (
    name: string,
    status: 'True' | 'False',
    more: { reason: string; decision?: 'Approved' | 'Denied' },
  ): Promise<void> => {
    const { reason, decision } = more;
    const made = await registrations.create({
      apiVersion: API_VERSION,
      kind: 'ClusterRegistration',
      metadata: { name },
      spec: { clusterId: name, clusterName: name, certificateRequest: name, syncMode: 'Pull' },
    });
    const lastTransitionTime = formatTime(now);
    const condition = { type: 'Complete', status, reason, message: '', lastTransitionTime };
    const written: ClusterRegistration = {
      ...made,
      status: { conditions: [condition], ...(decision === undefined ? {} : { decision }) },
    };
    await registrations.update(written, { subresource: 'status' });
  };
  await make('approved', 'True', { reason: 'SameKey', decision: 'Approved' });
  await make('denied', 'True', { reason: 'Denied', decision: 'Denied' });
  await make('abandoned', 'False', { reason: 'RequestMissing' });
  await make('waiting', 'False', { reason: 'AwaitingApproval' });
  await make('proofless', 'False', { reason: 'KeyDiffers' });

  /** What is left when a hub has run for so long that one of those that are to go is gone. */
  const leftAfter = async (atDays: number, ...gone: string[]): Promise<string[]> => {
    days = atDays;
    const stop = new AbortController();
    const manager = createManager({ client: server.client, logger: silentLogger });
    manager.add(createRegistrationCleaner({ now: () => now + days * DAY_MS }));
    const running = manager.start(stop.signal);
    await manager.ready();
    const waiting = new Set(gone);
    for await (const event of watchResource(registrations, { signal: AbortSignal.timeout(10_000) })) {
      const names = (await registrations.list()).items.map(({ metadata }) => metadata.name ?? '');
      for (const name of waiting) if (!names.includes(name)) waiting.delete(name);
      if (waiting.size === 0 && event.type !== 'Init') break;
    }
    stop.abort();
    await running;
    return (await registrations.list()).items.map(({ metadata }) => metadata.name ?? '').sort();
  };

  assert.deepEqual(await leftAfter(6.9), ['abandoned', 'approved', 'denied', 'proofless', 'waiting']);
  assert.deepEqual(await leftAfter(7.1, 'approved', 'abandoned'), ['denied', 'proofless', 'waiting']);
  assert.deepEqual(await leftAfter(29.9), ['denied', 'proofless', 'waiting']);
  assert.deepEqual(await leftAfter(30.1, 'denied'), ['proofless', 'waiting']);
});
