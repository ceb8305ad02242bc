import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { connect } from 'node:tls';
import { LEAF_MS, type ServerPki } from '@asterism/apiserver';
import { ManualClock, until } from '@asterism/client/testing';
import { NAMESPACES } from '@asterism/machinery';
import { silentLogger } from '@asterism/runtime';
import { openHubKeys } from './hub-keys.ts';
import { keepHubKeys } from './keep-hub-keys.ts';
import { TestFleet } from './testing/test-fleet.ts';
import { TestHost } from './testing/test-host.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const LIFE_MS = 3_000;

/** What a new connection is shown. */
async function served(url: string, ca: string): Promise<X509Certificate> {
  const { hostname: host, port } = new URL(url);
  const { promise, resolve, reject } = Promise.withResolvers<X509Certificate>();
  const socket = connect({ host, port: Number(port), ca }, () => resolve(socket.getPeerX509Certificate()!));
  socket.once('error', reject);
  try {
    return await promise;
  } finally {
    socket.destroy();
  }
}

/** Resolves with the certificate that a server shows when the first one has ended. */
async function servedAfter(first: X509Certificate, url: string, ca: string): Promise<X509Certificate> {
  let shown = first;
  await until(async () => {
    shown = await served(url, ca);
    return Date.now() > first.validToDate.getTime();
  });
  return shown;
}

test('a hub renews its own certificates while it runs, and serves the new one on new connections', async (context) => {
  const fleet = await TestFleet.start({ timing: { certificateLifeMs: LIFE_MS } });
  context.after(() => fleet[Symbol.asyncDispose]());
  const { hub } = fleet;
  const first = await served(hub.url, hub.ca);
  const kubeconfig = await readFile(hub.kubeconfigPath, 'utf8');
  const before = fleet.client(hub.adminConnection);
  await before.resource(NAMESPACES).list();
  const shown = await servedAfter(first, hub.url, hub.ca);
  assert.notEqual(shown.serialNumber, first.serialNumber);
  assert.ok(shown.validToDate > first.validToDate);
  assert.notEqual(await readFile(hub.kubeconfigPath, 'utf8'), kubeconfig, 'the kubeconfig holds the next certificate');
  await fleet.client(hub.adminConnection).resource(NAMESPACES).list();
});

test('a hub on a kube-apiserver does so too', async (context) => {
  const host = await TestHost.start();
  context.after(() => host[Symbol.asyncDispose]());
  const hub = host.hub('first', { timing: { certificateLifeMs: LIFE_MS } });
  await hub.start();
  const first = await served(hub.url, hub.ca);
  const shown = await servedAfter(first, hub.url, hub.ca);
  assert.ok(shown.validToDate > first.validToDate);
});

describe('the certificates of a year', () => {
  async function kept(context: TestContext, use: (keys: ServerPki) => void) {
    const dir = await mkdtemp(join(tmpdir(), 'asterism-keys-'));
    const clock = new ManualClock();
    clock.setWall(Date.now() - clock.wall().getTime());
    const folder = { dir, hosts: ['127.0.0.1'], lifeMs: LEAF_MS };
    const keys = await openHubKeys({ ...folder, now: clock.wall().getTime() });
    const keeping = keepHubKeys({ keys, folder, use, clock, logger: silentLogger });
    context.after(async () => {
      await keeping[Symbol.asyncDispose]();
      await rm(dir, { recursive: true });
    });
    return { clock, keys, folder };
  }

  test('are renewed once after eight months, also when the machine slept meanwhile', async (context) => {
    const renewed: ServerPki[] = [];
    const { promise, resolve } = Promise.withResolvers<void>();
    const { clock, keys, folder } = await kept(context, (next) => {
      renewed.push(next);
      resolve();
    });
    clock.setWall(240 * DAY_MS);
    clock.advance(60_000);
    await clock.timer((ms) => ms > 0);
    assert.equal(renewed.length, 0);
    clock.setWall(4 * DAY_MS);
    clock.advance(60_000);
    await promise;
    await clock.timer((ms) => ms > 0);
    clock.advance(60_000);
    assert.equal(renewed.length, 1);
    assert.equal(renewed[0]?.ca.cert, keys.ca.cert);
    assert.notEqual(renewed[0]?.serving.cert, keys.serving.cert);
    assert.notEqual(renewed[0]?.admin.cert, keys.admin.cert);
    const { serving } = await openHubKeys({ ...folder, now: clock.wall().getTime() });
    assert.equal(serving.cert, renewed[0]?.serving.cert, 'the next start uses them');
  });

  test('are renewed again soon if they could not be put into use', async (context) => {
    let attempts = 0;
    const tried = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const { clock } = await kept(context, () => {
      tried[attempts++]?.resolve();
      if (attempts === 1) throw new Error('the disk is full');
    });
    clock.setWall(250 * DAY_MS);
    clock.advance(60_000);
    await tried[0]?.promise;
    await clock.timer((ms) => ms < 10_000);
    clock.advance(10_000);
    await tried[1]?.promise;
    assert.equal(attempts, 2);
  });
});
