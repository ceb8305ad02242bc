import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type FaultyTestServer, startTestServer, untilObject } from '@asterism/apiserver/testing';
import { systemClock } from '@asterism/client';
import { LEASES, NAMESPACES } from '@asterism/machinery';
import { createManager, type Logger, silentLogger } from '@asterism/runtime';
import {
  type Cluster,
  CLUSTERS,
  clusterNamespace,
  customResourceDefinitions,
  HEARTBEAT_LEASE,
} from '../../api/index.ts';
import { addHealth } from './health-controller.ts';
import { beat } from './heartbeat.ts';

const TIMEOUT_MS = 800;
const isUnknown = (cluster: Cluster | undefined): boolean =>
  cluster?.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'Unknown') ?? false;

/** Resolves when the controllers say this. */
function telling(): { logger: Logger; said: (message: RegExp) => Promise<void> } {
  const waiting = new Set<{ message: RegExp; resolve: () => void }>();
  const tell = (_: object, text: string): void => {
    for (const each of waiting) if (each.message.test(text)) each.resolve();
  };
  const said = async (message: RegExp): Promise<void> => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const each = { message, resolve };
    waiting.add(each);
    await promise;
    waiting.delete(each);
  };
  const logger: Logger = { ...silentLogger, info: tell, warn: tell, child: () => logger };
  return { logger, said };
}

describe('silence, of clusters and of the hub', () => {
  const parts = new AsyncDisposableStack();
  const { logger, said } = telling();
  let server: FaultyTestServer;
  /** How far the hub's clock went on while its process did not. */
  let frozenMs = 0;

  before(async () => {
    server = parts.use(await startTestServer({ crds: await customResourceDefinitions(), faults: true }));
    const manager = createManager({ client: server.client, logger: silentLogger });
    addHealth(manager, { logger, timeoutMs: TIMEOUT_MS, monotonic: () => performance.now() + frozenMs });
    const stopping = new AbortController();
    const done = manager.start(stopping.signal);
    parts.defer(async () => {
      stopping.abort();
      await done;
    });
    await manager.ready();
  });

  after(() => parts.disposeAsync());

  /** A Cluster that is Ready, and its Lease. */
  async function cluster(name: string): Promise<void> {
    const { inside } = server;
    await inside.resource(NAMESPACES).create({ metadata: { name: clusterNamespace(name) } });
    await inside.resource(LEASES).create({ metadata: { namespace: clusterNamespace(name), name: HEARTBEAT_LEASE } });
    const spec = { id: name, syncMode: 'Pull' as const, connection: { type: 'Tunnel' as const } };
    await inside
      .resource(CLUSTERS)
      .create({ apiVersion: 'asterism.dev/v1alpha1', kind: 'Cluster', metadata: { name }, spec });
    const conditions = [
      {
        type: 'Ready',
        status: 'True',
        reason: 'ClusterReady',
        message: '',
        lastTransitionTime: '2026-01-02T03:04:05Z',
      },
    ];
    const body = { status: { conditions } };
    await inside.resource(CLUSTERS).patch({ name }, { type: 'merge', body }, { subresource: 'status' });
  }

  /** Heartbeats until it is disposed of. They go over the wire, and fail when that does. */
  function beating(name: string): AsyncDisposable {
    const stopping = new AbortController();
    const done = (async () => {
      while (!stopping.signal.aborted) {
        const options = { now: Date.now(), holder: 'test', timeoutMs: TIMEOUT_MS, signal: stopping.signal };
        await beat(server.client, name, options).catch(() => {});
        await new Promise<void>((resolve) => systemClock.setTimer(resolve, TIMEOUT_MS / 10));
      }
    })();
    return {
      [Symbol.asyncDispose]: async () => {
        stopping.abort();
        await done;
      },
    };
  }

  const versionOf = async (name: string) =>
    (await server.inside.resource(CLUSTERS).get({ name })).metadata.resourceVersion;

  test('a cluster that is silent is Unknown; one that beats is not touched', async () => {
    await cluster('beats');
    await using _ = beating('beats');
    const before_ = await versionOf('beats');
    await cluster('silent');
    const found = await untilObject(
      server.inside,
      CLUSTERS,
      { name: 'silent' },
      (each) => (each?.spec.taints ?? []).length > 0,
    );
    assert.ok(isUnknown(found));
    assert.deepEqual(
      found?.spec.taints?.map(({ key }) => key),
      ['asterism.dev/unreachable'],
    );
    assert.equal(await versionOf('beats'), before_);
  });

  test('a freeze of the hub is nobody’s silence', async () => {
    await cluster('frozen-beats');
    await using _ = beating('frozen-beats');
    await cluster('frozen-silent');
    const before_ = await versionOf('frozen-beats');
    const started = performance.now();
    frozenMs += 60_000;
    await untilObject(server.inside, CLUSTERS, { name: 'frozen-silent' }, isUnknown);
    assert.ok(performance.now() - started >= TIMEOUT_MS, 'the minute did not count');
    assert.equal(await versionOf('frozen-beats'), before_);
  });

  test('while its API server has no store, nobody is silent', async () => {
    await cluster('storeless-beats');
    await using _ = beating('storeless-beats');
    await cluster('storeless-silent');
    const before_ = await versionOf('storeless-beats');
    const deaf = said(/no heartbeat can be heard/);
    const failure = { kind: 'status', code: 500, message: 'etcdserver: request timed out' } as const;
    const away = server.faults.inject(
      failure,
      { resource: 'leases.coordination.k8s.io' },
      { times: Number.POSITIVE_INFINITY },
    );
    await deaf;
    frozenMs += 60_000;
    const again = said(/can be heard again/);
    away.lift();
    await again;
    const started = performance.now();
    await untilObject(server.inside, CLUSTERS, { name: 'storeless-silent' }, isUnknown);
    assert.ok(performance.now() - started >= TIMEOUT_MS / 2, 'its silence counted from before alone');
    assert.equal(await versionOf('storeless-beats'), before_);
  });

  test('while nothing comes through to its API server, nobody is silent', async () => {
    await cluster('cut-beats');
    await using _ = beating('cut-beats');
    const before_ = await versionOf('cut-beats');
    const deaf = said(/no heartbeat can be heard/);
    const cut = server.faults.freeze();
    await deaf;
    frozenMs += 60_000;
    const again = said(/can be heard again/);
    cut.lift();
    await again;
    await cluster('cut-silent');
    await untilObject(server.inside, CLUSTERS, { name: 'cut-silent' }, isUnknown);
    assert.equal(await versionOf('cut-beats'), before_);
  });

  test('a watch that tells nothing any more is no silence: before anybody is Unknown, the Lease itself is read', async () => {
    await cluster('unwatched-beats');
    await using _ = beating('unwatched-beats');
    const before_ = await versionOf('unwatched-beats');
    using _silence = await server.faults.strike({ kind: 'silence' }, { resource: 'leases.coordination.k8s.io' });
    await cluster('unwatched-silent');
    await untilObject(server.inside, CLUSTERS, { name: 'unwatched-silent' }, isUnknown);
    assert.equal(await versionOf('unwatched-beats'), before_);
  });
});
