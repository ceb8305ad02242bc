import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { startTestServer, type TestServer } from '@asterism/apiserver/testing';
import type { Client } from '@asterism/client';
import { CONFIG_MAPS, LEASES, SECRETS } from '@asterism/machinery';
import type { ClusterProvider, Engagement } from '../cluster/cluster.ts';
import { createController } from '../controller/controller.ts';
import { NotLeadingError } from '../leader/leader-election.ts';
import { silentLogger } from '../log/logger.ts';
import { createManager, type Manager } from '../lifecycle/manager.ts';
import type { Reconcile } from '../controller/reconcile.ts';
import { answer, FakeApi, failure } from '../testing/fake-api.ts';
import { rankPeers } from './rank-peers.ts';

const TIMES = { leaseDurationMs: 3_000, renewDeadlineMs: 2_000, retryPeriodMs: 100, yieldMs: 300 };
const MEMBERS = ['m0', 'm1', 'm2', 'm3', 'm4', 'm5'];
const named = (name: string) => ({ metadata: { namespace: 'default', name } });

/** One process's manager. */
interface Peer {
  identity: string;
  manager: Manager;
  /** `CLUSTER/NAME` of each reconcile. */
  seen: string[];
  engagements: Map<string, Engagement>;
  /** When its runnable began and ended. */
  ran: string[];
  ended: Promise<void>;
  stop(): Promise<void>;
}

let hub: TestServer;
let member: TestServer;
let peers: Peer[];

beforeEach(async () => {
  [hub, member] = await Promise.all([startTestServer(), startTestServer()]);
  peers = [];
});

afterEach(async () => {
  await Promise.all(peers.map((peer) => peer.stop()));
  await Promise.all([hub.stop(), member.stop()]);
});

interface PeerOptions {
  act?: Reconcile;
  members?: readonly string[];
  graceMs?: number;
}

/** Reconciles ConfigMaps of all clusters, and each member for every Secret of the hub. */
function start(identity: string, { act = async () => {}, members = MEMBERS, graceMs }: PeerOptions = {}): Peer {
  const engagements = new Map<string, Engagement>();
  const provider: ClusterProvider = {
    async run(engage) {
      for (const name of members) engagements.set(name, engage(name, member.client));
    },
  };
  const manager = createManager({
    client: hub.client,
    providers: [provider],
    logger: silentLogger,
    sharding: { namespace: 'default', name: 'shards', identity, ...TIMES },
    graceMs,
  });
  const [seen, ran]: string[][] = [[], []];
  const reconcile: Reconcile = async (request, context) => {
    seen?.push(`${request.cluster}/${request.name}`);
    return await act(request, context);
  };
  manager.add(
    createController({ name: 'maps', reconcile, concurrency: 20 })
      .for(CONFIG_MAPS, { clusters: 'all', namespace: 'default' })
      .watches(SECRETS, ({ metadata }) => MEMBERS.map((cluster) => ({ cluster, name: metadata?.name ?? '' }))),
  );
  manager.add({
    name: 'alone',
    async run(signal) {
      ran?.push('began');
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      ran?.push('ended');
    },
  });
  const abort = new AbortController();
  const ended = manager.start(abort.signal);
  ended.catch(() => {});
  const stop = async (): Promise<void> => {
    abort.abort();
    await ended.catch(() => {});
  };
  const peer = { identity, manager, seen: seen ?? [], engagements, ran: ran ?? [], ended, stop };
  peers.push(peer);
  return peer;
}

const fallsTo = (cluster: string, ...identities: string[]): string => rankPeers(cluster, identities)[0] ?? '';
const held = ({ manager }: Peer): string[] =>
  manager
    .clusters()
    .map(({ name }) => name)
    .sort();
const holdsLocal = ({ ran }: Peer): boolean => ran.at(-1) === 'began';

/** Until all is with whom it falls to. */
async function settled(...among: Peer[]): Promise<void> {
  const identities = among.map(({ identity }) => identity);
  const isSettled = (peer: Peer): boolean => {
    const expected = MEMBERS.filter((each) => fallsTo(each, ...identities) === peer.identity);
    const local = fallsTo('', ...identities) === peer.identity;
    return held(peer).join() === expected.join() && holdsLocal(peer) === local;
  };
  await until(() => among.every(isSettled));
}

describe('managers that share clusters', () => {
  test('each object is reconciled by the one that has its cluster, and by the next when that stops', async () => {
    await hub.client.resource(CONFIG_MAPS).create(named('local'));
    await member.client.resource(CONFIG_MAPS).create(named('there'));
    const [a, b] = [start('a'), start('b')];
    await settled(a, b);
    await hub.client.resource(CONFIG_MAPS).create(named('local-2'));
    await member.client.resource(CONFIG_MAPS).create(named('there-2'));
    const expected = ({ identity }: Peer): string[] => [
      ...(fallsTo('', 'a', 'b') === identity ? ['/local-2'] : []),
      ...MEMBERS.filter((each) => fallsTo(each, 'a', 'b') === identity).map((each) => `${each}/there-2`),
    ];
    const news = ({ seen }: Peer): string[] => seen.filter((each) => each.endsWith('-2')).sort();
    await until(() => news(a).length + news(b).length >= 7);
    for (const peer of [a, b]) assert.deepEqual(news(peer), expected(peer));
    b.seen.length = 0;
    const began = performance.now();
    await a.stop();
    await settled(b);
    assert.ok(performance.now() - began < TIMES.leaseDurationMs / 2, 'it waited for Leases to run out');
    const taken = ['', ...MEMBERS].filter((each) => fallsTo(each, 'a', 'b') === 'a');
    const all = taken.flatMap((each) => (each ? [`${each}/there`, `${each}/there-2`] : ['/local', '/local-2']));
    await until(() => all.every((each) => b.seen.includes(each)));
    assert.equal(new Set(b.seen).size, b.seen.length, 'nothing is reconciled twice');
  });

  test('what an object of the local cluster asks of members reaches those that hold them, now and later', async () => {
    const a = start('a');
    await settled(a);
    await hub.client.resource(SECRETS).create(named('wanted'));
    await until(() => MEMBERS.every((each) => a.seen.includes(`${each}/wanted`)));
    const b = start('b');
    await settled(a, b);
    const ofB = MEMBERS.filter((each) => fallsTo(each, 'a', 'b') === 'b').map((each) => `${each}/wanted`);
    await until(() => ofB.every((each) => b.seen.includes(each)));
    // A namespace gets the ConfigMap of its authority at any time.
    const others = b.seen.filter((each) => !ofB.includes(each) && !each.endsWith('/kube-root-ca.crt'));
    assert.deepEqual(others, []);
  });

  test('what runs in one process alone runs in the one that holds the local cluster', async () => {
    const [first = '', second = ''] = rankPeers('', ['a', 'b']);
    const a = start(second);
    await settled(a);
    const b = start(first);
    await settled(a, b);
    assert.deepEqual([a.ran, b.ran], [['began', 'ended'], ['began']]);
    await b.stop();
    await settled(a);
    assert.deepEqual(
      [a.ran, b.ran],
      [
        ['began', 'ended', 'began'],
        ['began', 'ended'],
      ],
    );
  });

  test('nobody but the holder can write, and a reconcile tells the local cluster what it does', async () => {
    const act: Reconcile = async ({ cluster, name }, { at }) => {
      if (name !== 'there') return;
      await at('')
        ?.client.resource(SECRETS)
        .create(named(`report-of-${cluster}`));
    };
    const [a, b] = [start('a', { act }), start('b', { act })];
    await settled(a, b);
    for (const peer of [a, b]) {
      const local = peer.manager.local.client.resource(SECRETS);
      const write = local.create(named(`by-${peer.identity}`));
      if (holdsLocal(peer)) await write;
      else await assert.rejects(write, (error) => error instanceof NotLeadingError);
      for (const name of MEMBERS) {
        const { cluster } = peer.engagements.get(name) ?? {};
        assert.ok(cluster);
        const writing = cluster.client.resource(SECRETS).create(named(`${name}-by-${peer.identity}`));
        if (held(peer).includes(name)) await writing;
        else {
          await assert.rejects(writing, (error) => error instanceof NotLeadingError);
          assert.throws(() => cluster.cache, /is not this process's/);
          assert.equal(cluster.health(), 'Connected');
        }
      }
    }
    await member.client.resource(CONFIG_MAPS).create(named('there'));
    const reports = MEMBERS.map((each) => `report-of-${each}`);
    await until(async () => {
      const names = (await hub.client.resource(SECRETS).list({ namespace: 'default' })).items.map(
        (each) => each.metadata?.name,
      );
      return reports.every((each) => names.includes(each));
    });
  });

  test('a cluster is not handed over before its reconciles have ended, nor are its objects reconciled by two', async () => {
    await member.client.resource(CONFIG_MAPS).create(named('slow'));
    const working = new Set<string>();
    const release = Promise.withResolvers<void>();
    const twice: string[] = [];
    const act: Reconcile = async ({ cluster, name }) => {
      if (name !== 'slow') return;
      if (working.has(cluster)) twice.push(cluster);
      working.add(cluster);
      await release.promise;
      working.delete(cluster);
    };
    const a = start('a', { act });
    await until(() => working.size === MEMBERS.length);
    const b = start('b', { act });
    await until(async () => {
      const fences = (await hub.client.resource(LEASES).list({ namespace: 'default' })).items;
      return fences.some(({ metadata }) => metadata?.annotations?.['asterism.dev/wanted-by'] === 'b');
    });
    await b.manager.ready();
    assert.deepEqual(held(b), []);
    release.resolve();
    await settled(a, b);
    assert.deepEqual(twice, []);
  });

  test('of the local cluster nothing new is begun while it is handed over', async () => {
    const [first = '', second = ''] = rankPeers('', ['a', 'b']);
    await hub.client.resource(CONFIG_MAPS).create(named('slow'));
    const release = Promise.withResolvers<void>();
    let aborted = false;
    const act: Reconcile = async ({ cluster, name }, { signal }) => {
      if (cluster !== '' || name !== 'slow') return;
      signal.addEventListener('abort', () => (aborted = true));
      await release.promise;
    };
    const a = start(second, { act, members: [] });
    await until(() => a.seen.includes('/slow'));
    const b = start(first, { members: [] });
    await until(() => aborted);
    await hub.client.resource(CONFIG_MAPS).create(named('new'));
    const saw = a.manager.local.cache;
    await until(() => saw.get(CONFIG_MAPS, { namespace: 'default', name: 'new' }) !== undefined);
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(a.seen.includes('/new') || b.seen.includes('/new'), false);
    release.resolve();
    await until(() => b.seen.includes('/new'));
    assert.deepEqual([a.seen.includes('/new'), b.seen.includes('/slow')], [false, true]);
  });

  test('a reconcile that does not end holds up no stop', async () => {
    await member.client.resource(CONFIG_MAPS).create(named('stuck'));
    const stuck = start('a', { act: () => new Promise(() => {}), graceMs: 100 });
    await until(() => stuck.seen.length > 0);
    await stuck.stop();
    await stuck.ended;
  });
});

describe('a provider', () => {
  test('engages each name once, replaces credentials and disengages, whoever holds the cluster', async () => {
    let engage: ((name: string, client: Client) => Engagement) | undefined;
    const a = start('a');
    await settled(a);
    const m0 = a.engagements.get('m0');
    assert.ok(m0);
    const { cluster } = m0;
    const before = cluster.client;
    const { replaced } = cluster;
    m0.replaceClient(hub.client);
    assert.equal(replaced.aborted, true);
    assert.notEqual(cluster.client, before);
    await cluster.client.resource(SECRETS).create(named('through-the-new-one'));
    await hub.client.resource(SECRETS).get({ namespace: 'default', name: 'through-the-new-one' });
    await m0.disengage();
    assert.equal(cluster.signal.aborted, true);
    assert.deepEqual(held(a), MEMBERS.slice(1));
    assert.equal(a.engagements.get('m1')?.cluster.signal.aborted, false);
    await a.stop();
    assert.equal(a.engagements.get('m1')?.cluster.signal.aborted, true);
    const manager = createManager({
      client: hub.client,
      logger: silentLogger,
      sharding: { namespace: 'default', name: 'others', identity: 'x' },
      providers: [{ run: async (given) => void (engage = given) }],
    });
    const abort = new AbortController();
    const ended = manager.start(abort.signal);
    await manager.ready();
    const first = engage?.('twice', member.client);
    assert.throws(() => engage?.('twice', member.client), /engaged already/);
    assert.throws(() => engage?.('', member.client), /needs a name/);
    await first?.disengage();
    engage?.('twice', member.client);
    abort.abort();
    await ended;
  });
});

test('a manager has either an election or sharding', () => {
  const same = { namespace: 'default', name: 'x', identity: 'x' };
  const options = { client: hub.client, logger: silentLogger, sharding: same, leaderElection: same };
  assert.throws(() => createManager(options), /either leaderElection or sharding/);
});

test('a process that may not read the Leases takes nothing, and says why it is not ready', async () => {
  await using api = await FakeApi.start();
  const forbidden = failure(403, 'Forbidden', { message: 'leases is forbidden' });
  const mend = api.fault(({ path, response }) => path.includes('/leases') && (answer(response, 403, forbidden), true));
  const manager = createManager({
    client: api.client(),
    logger: silentLogger,
    sharding: { namespace: 'default', name: 'shards', identity: 'x', ...TIMES },
  });
  const abort = new AbortController();
  const ended = manager.start(abort.signal);
  await until(() => manager.whyNotReady().join().includes('403'));
  assert.deepEqual(manager.whyNotReady(), ['leases.coordination.k8s.io: HTTP 403: leases is forbidden']);
  mend();
  await manager.ready();
  assert.deepEqual(manager.whyNotReady(), []);
  abort.abort();
  await ended;
});

/** Looks again with each turn of the event loop. */
async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 5));
}
