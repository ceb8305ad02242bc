import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import { ManualClock } from '@asterism/client/testing';
import { silentLogger } from '../log/logger.ts';
import { rankPeers } from './rank-peers.ts';
import { ShardCoordinator } from './shard-coordinator.ts';
import { fenceName } from './shard-leases.ts';
import { SharedLeases, SimulatedProcess } from './testing/shared-leases.ts';

const CLUSTERS = Array.from({ length: 8 }, (_, n) => `cluster-${n}`);

class Peer extends SimulatedProcess {
  readonly identity: string;
  readonly coordinator: ShardCoordinator;
  /** On what it works: from being told to begin until it has ended. */
  readonly working = new Set<string>();
  /** How long it takes to end, ms. */
  endsAfterMs = 0;
  taken = 0;

  constructor(identity: string) {
    super(leases, time);
    this.identity = identity;
    const { client, clock, informer } = this;
    const parts = { client, clock, informer, monotonic: () => time.monotonic(), random, logger: silentLogger };
    this.coordinator = new ShardCoordinator({ namespace: 'n', name: 'app', identity }, parts);
  }

  start(clusters: readonly string[] = CLUSTERS): this {
    this.coordinator.start();
    for (const cluster of clusters) this.offer(cluster);
    peers.push(this);
    return this;
  }

  offer(cluster: string): void {
    this.coordinator.offer(cluster, {
      begin: () => {
        this.taken += 1;
        this.working.add(cluster);
      },
      end: async () => {
        if (this.endsAfterMs > 0) {
          await new Promise<void>((resolve) => void this.clock.setTimer(resolve, this.endsAfterMs));
        }
        this.working.delete(cluster);
      },
    });
  }

  holds(): string[] {
    return CLUSTERS.filter((cluster) => this.coordinator.mayAct(cluster));
  }
}

let leases: SharedLeases;
let time: ManualClock;
let peers: Peer[];
let random: () => number;

beforeEach(() => {
  leases = new SharedLeases();
  time = new ManualClock();
  peers = [];
  random = () => 0;
});

/** Every promise that can go on has: an answer takes three turns of the event loop. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 8; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

/** Goes on step by step, and looks at each whether two act. */
async function pass(ms: number): Promise<void> {
  const until = time.monotonic() + ms;
  for (;;) {
    await settled();
    never2();
    const [next] = time.pending();
    if (next === undefined || time.monotonic() + next > until) break;
    time.advance(next);
  }
  time.advance(until - time.monotonic());
  await settled();
  never2();
}

function never2(): void {
  for (const cluster of CLUSTERS) {
    const acting = peers.filter((peer) => peer.awake && peer.coordinator.mayAct(cluster));
    assert.ok(acting.length <= 1, `${acting.map(({ identity }) => identity).join(' and ')} act on ${cluster}`);
  }
}

const holders = (): Record<string, string> =>
  Object.fromEntries(
    peers.filter(({ awake }) => awake).flatMap((peer) => peer.holds().map((each) => [each, peer.identity])),
  );

const byRank = (...identities: string[]): Record<string, string> =>
  Object.fromEntries(CLUSTERS.map((cluster) => [cluster, rankPeers(cluster, identities)[0] ?? '']));

describe('who has which cluster', () => {
  test('one process has them all, at once', async () => {
    new Peer('a').start();
    await pass(1);
    assert.deepEqual(holders(), byRank('a'));
  });

  test('processes that come get what falls to them, and nothing else moves', async () => {
    const a = new Peer('a').start();
    await pass(1_000);
    const b = new Peer('b').start();
    await pass(10_000);
    assert.deepEqual(holders(), byRank('a', 'b'));
    const c = new Peer('c').start();
    await pass(10_000);
    assert.deepEqual(holders(), byRank('a', 'b', 'c'));
    assert.deepEqual(
      [a, b, c].map(({ taken }) => taken),
      [8, b.holds().length + movedFrom('b'), c.holds().length],
    );
  });

  /** Of what fell to it before `c` came, how much fell to that. */
  const movedFrom = (identity: string): number =>
    CLUSTERS.filter((each) => byRank('a', 'b')[each] === identity && byRank('a', 'b', 'c')[each] === 'c').length;

  test('a process is given nothing that it has not heard of, and gets it when it has', async () => {
    const a = new Peer('a').start();
    const b = new Peer('b').start([]);
    await pass(60_000);
    assert.deepEqual(holders(), byRank('a'));
    const cluster = CLUSTERS.find((each) => byRank('a', 'b')[each] === 'b') ?? '';
    b.offer(cluster);
    await pass(1_000);
    assert.deepEqual([b.holds(), a.holds().length], [[cluster], 7]);
  });

  test('one that nobody holds and the first in line has not heard of is taken by the next', async () => {
    new Peer('b').start([]);
    await pass(1_000);
    new Peer('a').start();
    await pass(9_000);
    assert.deepEqual(
      Object.keys(holders()),
      CLUSTERS.filter((each) => byRank('a', 'b')[each] === 'a'),
    );
    await pass(2_000);
    assert.deepEqual(holders(), byRank('a'));
  });

  test('nobody begins before the one that had it has ended', async () => {
    const a = new Peer('a').start();
    a.endsAfterMs = 40_000;
    await pass(1_000);
    const b = new Peer('b').start();
    await pass(39_000);
    assert.deepEqual([b.working.size, a.working.size], [0, 8]);
    await pass(2_000);
    assert.deepEqual(holders(), byRank('a', 'b'));
    assert.deepEqual([...b.working].sort(), b.holds());
  });

  test('one that the first in line wants no more stays with whom it went to', async () => {
    const a = new Peer('a').start();
    await pass(1_000);
    const b = new Peer('b').start();
    await pass(10_000);
    const [cluster = ''] = b.holds();
    const { taken } = a;
    await Promise.all([b.coordinator.withdraw(cluster), pass(60_000)]);
    assert.deepEqual([a.holds().includes(cluster), a.taken], [true, taken + 1]);
  });

  test('a cluster that is gone is held by nobody, and can come again', async () => {
    const a = new Peer('a').start();
    await pass(1_000);
    await Promise.all([a.coordinator.withdraw('cluster-0'), pass(1_000)]);
    assert.equal(leases.get(fenceName('app', 'cluster-0')).spec?.holderIdentity, undefined);
    assert.equal(a.working.has('cluster-0'), false);
    a.offer('cluster-0');
    await pass(1_000);
    assert.deepEqual(holders(), byRank('a'));
  });
});

describe('a process that goes', () => {
  test('in order: the others have its clusters at once', async () => {
    const a = new Peer('a').start();
    new Peer('b').start();
    await pass(20_000);
    await Promise.all([a.coordinator.stop(), pass(500)]);
    assert.deepEqual(holders(), byRank('b'));
    assert.equal(a.working.size, 0);
  });

  test('in order, while something does not end: it is not waited for, and its fence runs out', async () => {
    const a = new Peer('a').start();
    await pass(1_000);
    new Peer('b').start();
    await pass(20_000);
    a.endsAfterMs = 1e9;
    const grace = new AbortController();
    const stopped = a.coordinator.stop(grace.signal);
    await pass(25_000);
    assert.deepEqual(holders(), byRank('a', 'b'));
    grace.abort();
    await Promise.all([stopped, pass(100)]);
    await pass(19_000);
    assert.ok(Object.values(holders()).length < 8);
    await pass(1_100);
    assert.deepEqual(holders(), byRank('b'));
  });

  test('in order, while it tries to take a cluster: it takes none any more', async () => {
    const a = new Peer('a').start([]);
    await pass(1_000);
    a.cut = true;
    a.offer('cluster-0');
    await pass(100);
    const retired = a.coordinator.retire();
    await pass(100);
    a.cut = false;
    await Promise.all([retired, pass(20_000)]);
    assert.deepEqual([a.taken, a.holds()], [0, []]);
  });

  for (const end of ['die', 'freeze'] as const) {
    test(`without a word (${end}): the others have its clusters within 25 s`, async () => {
      const [a] = [new Peer('a').start(), new Peer('b').start(), new Peer('c').start()];
      await pass(33_000);
      a[end]();
      await pass(14_000);
      assert.ok(Object.values(holders()).length < 8);
      await pass(10_500);
      assert.deepEqual(holders(), byRank('b', 'c'));
      if (end === 'die') return;
      a.wake(() => assert.deepEqual(a.holds(), []));
      await pass(1_000);
      assert.deepEqual(holders(), byRank('a', 'b', 'c'));
      for (const peer of peers) assert.deepEqual([...peer.working].sort(), peer.holds());
    });
  }

  test('cut off the server, it stops by itself before another begins, and takes part again', async () => {
    const [a] = [new Peer('a').start(), new Peer('b').start()];
    await pass(31_000);
    a.cut = true;
    await pass(15_000);
    assert.deepEqual([a.holds(), a.working.size, a.coordinator.isPeer()], [[], 0, false]);
    await pass(10_000);
    assert.deepEqual(holders(), byRank('b'));
    a.cut = false;
    await pass(25_000);
    assert.deepEqual(holders(), byRank('a', 'b'));
  });

  test('the server is away for all: nobody acts, and all have theirs again', async () => {
    const both = [new Peer('a').start(), new Peer('b').start()];
    await pass(31_000);
    for (const peer of both) peer.cut = true;
    await pass(120_000);
    assert.deepEqual(holders(), {});
    for (const peer of both) peer.cut = false;
    await pass(35_000);
    assert.deepEqual(holders(), byRank('a', 'b'));
  });
});

test('what is left behind is deleted after ten minutes, and nothing else', async () => {
  const a = new Peer('a').start();
  const b = new Peer('b').start();
  await pass(30_000);
  await Promise.all([a.coordinator.withdraw('cluster-0'), b.coordinator.withdraw('cluster-0'), pass(1_000)]);
  a.die();
  await pass(500_000);
  assert.equal(leases.leases.size, 10);
  await pass(200_000);
  assert.equal(leases.leases.size, 8, [...leases.leases.keys()].join());
});

test('a name that no Lease can have is refused, and times that do not fit', () => {
  const options = { namespace: 'n', identity: 'me' };
  const { client, clock, informer } = new Peer('x');
  const parts = { client, clock, informer, monotonic: () => 0, random, logger: silentLogger };
  assert.throws(() => new ShardCoordinator({ ...options, name: 'My App' }, parts), /DNS label/);
  assert.throws(() => new ShardCoordinator({ ...options, name: 'a', identity: '' }, parts), /identity/);
  assert.throws(
    () => new ShardCoordinator({ ...options, name: 'a', renewDeadlineMs: 30_000 }, parts),
    /renewDeadlineMs/,
  );
});

describe('whatever happens', () => {
  for (let seed = 1; seed <= 10; seed += 1) {
    test(`never two on one cluster, and in the end each has one (seed ${seed})`, async () => {
      random = seeded(seed);
      const fresh = (): Peer => new Peer(`peer-${peers.length}`).start();
      for (let n = 0; n < 3; n += 1) fresh();
      for (let step = 0; step < 40; step += 1) {
        disturb(fresh);
        await pass(Math.floor(random() * 12_000));
      }
      for (const peer of peers) calm(peer);
      await pass(70_000);
      const alive = peers.filter(({ dead }) => !dead).map(({ identity }) => identity);
      assert.deepEqual(holders(), byRank(...alive));
      for (const peer of peers) if (peer.awake) assert.deepEqual([...peer.working].sort(), peer.holds());
    });
  }

  function disturb(fresh: () => Peer): void {
    const alive = peers.filter(({ dead }) => !dead);
    const peer = alive[Math.floor(random() * alive.length)];
    if (!peer || alive.length < 2) return void fresh();
    const what = Math.floor(random() * 6);
    if (what === 0 && alive.length < 6) fresh();
    if (what === 1) peer.die();
    if (what === 2) peer.freeze();
    if (what === 3) peer.cut = !peer.cut;
    if (what === 4) calm(peer);
    if (what === 5) peer.endsAfterMs = Math.floor(random() * 30_000);
  }

  function calm(peer: Peer): void {
    peer.cut = false;
    if (!peer.awake && !peer.dead) peer.wake(never2);
  }
});

/** Mulberry32. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
