import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { startTestServer, type TestServer } from '@asterism/apiserver/testing';
import { systemClock } from '@asterism/client';
import { CLUSTERS, customResourceDefinitions, HUB_LEASE, SYSTEM_NAMESPACE } from '@asterism/fleet/api';
import { LEASES, NAMESPACES } from '@asterism/machinery';
import { EXIT } from '../exit-code.ts';
import { fakeTerminal } from '../testing/fake-hub.ts';
import { doctor } from './doctor.ts';

describe('aster doctor, at a hub of which nothing runs but its API server', () => {
  let hub: TestServer;
  let folder: string;
  let kubeconfig: string;

  before(async () => {
    hub = await startTestServer({ crds: await customResourceDefinitions() });
    folder = await mkdtemp(join(tmpdir(), 'aster-doctor-'));
    kubeconfig = await hub.kubeconfig(join(folder, 'hub'));
    const spec = { id: 'x', syncMode: 'Pull', connection: { type: 'Tunnel' } } as const;
    await hub.client
      .resource(CLUSTERS)
      .create({ apiVersion: 'asterism.dev/v1alpha1', kind: 'Cluster', metadata: { name: 'edge-1' }, spec });
    await hub.client.resource(NAMESPACES).create({ metadata: { name: SYSTEM_NAMESPACE } });
    await hub.client.resource(LEASES).create({
      metadata: { namespace: SYSTEM_NAMESPACE, name: HUB_LEASE },
      spec: { holderIdentity: 'gone', leaseDurationSeconds: 15, renewTime: '2026-01-01T00:00:00.000000Z' },
    });
  });
  after(async () => {
    await hub[Symbol.asyncDispose]();
    await rm(folder, { recursive: true });
  });

  test('names each fault with what to do, and ends with 1', async () => {
    const terminal = fakeTerminal();
    assert.equal(await doctor({ kubeconfig }, terminal), EXIT.error);
    assert.match(terminal.stdout, /^FAULT hub\/controllers: the hub that led is silent for \d+ h -> start a hub/m);
    assert.match(terminal.stdout, /^FAULT hub\/search: does not answer \(404\): .* -> see the hub's log/m);
    assert.match(terminal.stdout, /^FAULT edge-1\/registration: no agent is bound to it: .* -> join it/m);
    assert.match(terminal.stdout, /^FAULT edge-1\/way in: no way through its tunnel/m);
    assert.doesNotMatch(terminal.stdout, /^ok/m);
    assert.match(terminal.stderr, /^\d faults and \d notes? in \d+ checks\n$/);
  });

  test('says with --all what is fine too; as JSON everything', async () => {
    const terminal = fakeTerminal();
    await doctor({ kubeconfig, all: true, clusters: 'edge-1' }, terminal);
    assert.match(terminal.stdout, /^ok {4}hub\/hub: https:\S+ answers, and its certificate is good$/m);
    const json = fakeTerminal();
    await doctor({ kubeconfig, output: 'json' }, json);
    const { healthy, findings } = JSON.parse(json.stdout) as { healthy: boolean; findings: { cluster?: string }[] };
    assert.equal(healthy, false);
    assert.ok(findings.some(({ cluster }) => cluster === 'edge-1') && findings.some(({ cluster }) => !cluster));
    assert.equal(json.stderr, '');
  });

  test('a clock that is off, a hub that is another, a user that is nobody', async () => {
    const late = { ...systemClock, wall: () => new Date(Date.now() - 600_000) };
    const off = fakeTerminal();
    await doctor({ kubeconfig }, off, late);
    assert.match(off.stdout, /^FAULT hub\/clock: the clock of the hub is 10 min ahead of this machine's/m);
    const nobody = fakeTerminal();
    const guest = await hub.kubeconfig(join(folder, 'guest'), { username: 'guest', groups: ['system:authenticated'] });
    await doctor({ kubeconfig: guest }, nobody);
    assert.match(nobody.stdout, /^note {2}hub\/rights: you may not list clusters\.asterism\.dev, /m);
    assert.doesNotMatch(nobody.stdout, /edge-1/);
  });

  test('nobody there', async () => {
    const gone = await startTestServer();
    const path = await gone.kubeconfig(join(folder, 'gone'));
    await gone[Symbol.asyncDispose]();
    const terminal = fakeTerminal();
    assert.equal(await doctor({ kubeconfig: path }, terminal), EXIT.error);
    assert.match(terminal.stdout, /^FAULT hub\/hub: the hub does not answer: .*ECONNREFUSED.* -> is the hub up/m);
  });
});
