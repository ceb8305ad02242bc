import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { startTestServer, type TestServer } from '@asterism/apiserver/testing';
import { CLUSTERS, customResourceDefinitions } from '@asterism/fleet/api';
import { CommandError, EXIT } from '../exit-code.ts';
import { fakeTerminal } from '../testing/fake-hub.ts';
import { hurriedClock } from '../testing/hurried-clock.ts';
import { leave, type LeaveFlags } from './leave.ts';

describe('aster leave, at a hub whose controllers do not run', () => {
  let hub: TestServer;
  let folder: string;
  let flags: LeaveFlags;

  before(async () => {
    hub = await startTestServer({ crds: await customResourceDefinitions() });
    folder = await mkdtemp(join(tmpdir(), 'aster-leave-'));
    flags = { kubeconfig: await hub.kubeconfig(join(folder, 'hub')), timeout: '2s' };
    const spec = { id: 'x', syncMode: 'Pull', connection: { type: 'Tunnel' } } as const;
    const cluster = { apiVersion: 'asterism.dev/v1alpha1', kind: 'Cluster', spec } as const;
    for (const name of ['edge-1', 'edge-2'])
      await hub.client.resource(CLUSTERS).create({ ...cluster, metadata: { name } });
  });
  after(async () => {
    await hub[Symbol.asyncDispose]();
    await rm(folder, { recursive: true });
  });

  test('asks, says once what it waits for, and ends when the time is over', async () => {
    const terminal = fakeTerminal();
    await assert.rejects(
      leave('edge-1', { ...flags, keep: true }, terminal, hurriedClock()),
      (error) =>
        error instanceof CommandError &&
        error.exitCode === EXIT.timeout &&
        /has not left after 2 s: .*The hub goes on; run this again to look, or with --force/.test(error.message),
    );
    assert.equal(terminal.stderr, 'leaving: the hub has not looked at it yet\n');
    const { metadata } = await hub.client.resource(CLUSTERS).get({ name: 'edge-1' });
    assert.deepEqual(metadata.finalizers, ['asterism.dev/leave']);
    assert.equal(metadata.annotations?.['asterism.dev/leave'], 'Keep');
    assert.ok(metadata.deletionTimestamp);
  });

  test('by force it asks nobody, also where it was asked in order before', async () => {
    for (const name of ['edge-1', 'edge-2']) {
      const terminal = fakeTerminal();
      assert.equal(await leave(name, { ...flags, force: true }, terminal, hurriedClock()), EXIT.fine);
      assert.equal(terminal.stdout, `${name} has left\n`);
      assert.match(
        terminal.stderr,
        /kubectl delete clusterrolebinding,clusterrole,namespace -l asterism\.dev\/made-by=join/,
      );
    }
  });

  test('wrong usage, and a name that nobody has', async () => {
    await assert.rejects(leave('edge-9', flags, fakeTerminal()), /there is no cluster "edge-9" in the hub/);
    await assert.rejects(
      leave('edge-9', { ...flags, keep: true, force: true }, fakeTerminal()),
      /^CommandError: --keep, --force: /,
    );
    await assert.rejects(leave('Edge', flags, fakeTerminal()), /NAME: "Edge" is no name of a cluster/);
  });
});
