import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { startTestServer, type TestServer } from '@asterism/apiserver/testing';
import { systemClock } from '@asterism/client';
import { HUB_REPLICA_LABEL, SYSTEM_NAMESPACE } from '@asterism/fleet/api';
import { type Lease, LEASES, NAMESPACES } from '@asterism/machinery';
import { createManager, silentLogger } from '@asterism/runtime';
import { createReplica, type OwnReplica, type Replica, replicaLease, replicaOf } from './replica.ts';
import { ReplicaRegister } from './replica-register.ts';

/** A clock that is put forward by hand, and tells its timers then. */
class HandClock {
  #now = 0;
  readonly #timers = new Set<{ at: number; callback: () => void }>();

  readonly clock = {
    wall: () => systemClock.wall(),
    monotonic: (): number => this.#now,
    setTimer: (callback: () => void, ms: number): (() => void) => {
      const timer = { at: this.#now + ms, callback };
      this.#timers.add(timer);
      return () => this.#timers.delete(timer);
    },
  };

  advance(ms: number): void {
    this.#now += ms;
    for (const timer of this.#timers) {
      if (timer.at <= this.#now && this.#timers.delete(timer)) timer.callback();
    }
  }
}

/** A process that is a replica, as far as its Lease goes. */
class Registered {
  readonly self: OwnReplica;
  readonly #stop = new AbortController();
  #done: Promise<void> | undefined;
  #others: readonly Replica[] = [];
  #onChange = (): void => {};
  #register: ReplicaRegister | undefined;

  constructor(self: OwnReplica) {
    this.self = self;
  }

  start({ client }: TestServer, time = new HandClock()): this {
    const manager = createManager({ client, logger: silentLogger });
    const options = { self: this.self, client, cache: manager.local.cache, logger: silentLogger };
    const onChange = (others: readonly Replica[]): void => {
      this.#others = others;
      this.#onChange();
    };
    this.#register = new ReplicaRegister({ ...options, clock: time.clock, onChange });
    manager.add(this.#register);
    this.#done = manager.start(this.#stop.signal);
    return this;
  }

  async sees(...others: Replica[]): Promise<void> {
    const wanted = others.map(({ id }) => id).sort();
    while (this.#others.map(({ id }) => id).join() !== wanted.join()) {
      await new Promise<void>((resolve) => (this.#onChange = resolve));
    }
  }

  address(id: string): string {
    const { host, port } = this.#others.find((other) => other.id === id) ?? {};
    return `${host} ${port}`;
  }

  serving(id: string): string | undefined {
    return this.#others.find((other) => other.id === id)?.serving?.host;
  }

  /** Resolves when others are told of, or the same say something else of themselves. */
  changed(): Promise<void> {
    return new Promise((resolve) => (this.#onChange = resolve));
  }

  async retire(): Promise<void> {
    await this.#register?.retire();
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#done;
    await this.#register?.leave();
  }
}

describe('the register of replicas', { timeout: 20_000 }, () => {
  let server: TestServer;

  before(async () => {
    server = await startTestServer();
    await server.client.resource(NAMESPACES).create({ metadata: { name: SYSTEM_NAMESPACE } });
  });

  after(async () => {
    await server?.[Symbol.asyncDispose]();
  });

  const leases = async (): Promise<string[]> => {
    const { items } = await server.client
      .resource(LEASES)
      .list({ namespace: SYSTEM_NAMESPACE, labelSelector: HUB_REPLICA_LABEL });
    return items.map(({ spec }) => spec?.holderIdentity ?? '');
  };

  test('those that live find each other, and one that stops is gone at once', async () => {
    const one = new Registered(await createReplica({ host: '2001:db8::1', port: 1 })).start(server);
    const other = new Registered(await createReplica({ host: 'hub-1.example', port: 7444 })).start(server);
    await Promise.all([one.sees(other.self), other.sees(one.self)]);
    assert.equal(one.address(other.self.id), 'hub-1.example 7444');
    assert.equal(other.address(one.self.id), '2001:db8::1 1');
    await other.stop();
    await one.sees();
    assert.deepEqual(await leases(), [one.self.id]);
    await one.stop();
    assert.deepEqual(await leases(), []);
  });

  test('one that retires takes no more calls, and is still one of them', async () => {
    const one = new Registered(await createReplica({ host: '127.0.0.1', port: 1 })).start(server);
    const serving = { host: '192.0.2.7', port: 443, ca: 'CA' };
    const other = new Registered({ ...(await createReplica({ host: '127.0.0.1', port: 2 })), serving }).start(server);
    await Promise.all([one.sees(other.self), other.sees(one.self)]);
    assert.equal(one.serving(other.self.id), '192.0.2.7');
    const changed = one.changed();
    await other.retire();
    await changed;
    await one.sees(other.self);
    assert.equal(one.serving(other.self.id), undefined);
    await Promise.all([one.stop(), other.stop()]);
  });

  test('one that is not seen renewed for 15 s is gone, and its Lease is deleted in the end', async () => {
    const killed = await createReplica({ host: '127.0.0.1', port: 1 });
    const apply = (lease: Lease): Promise<Lease> =>
      server.client.resource(LEASES).apply(lease, { fieldManager: 'test', force: true });
    // Whatever its clock says: what counts is when this process saw it change.
    await apply(replicaLease(killed, Date.now() - 3_600_000));
    const time = new HandClock();
    const one = new Registered(await createReplica({ host: '127.0.0.1', port: 2 })).start(server, time);
    await one.sees(killed);
    time.advance(15_001);
    await one.sees();
    await apply(replicaLease(killed, Date.now() - 3_000_000));
    await one.sees(killed);
    time.advance(15_001);
    await one.sees();
    const gone = Promise.withResolvers<void>();
    const watch = createManager({ client: server.client, logger: silentLogger });
    watch.local.cache.informer(LEASES).addHandler({ onDelete: () => gone.resolve() });
    const stop = new AbortController();
    const watching = watch.start(stop.signal);
    await watch.ready();
    time.advance(600_000);
    await gone.promise;
    stop.abort();
    await Promise.all([watching, one.stop()]);
  });

  test('a Lease that does not say all of it, or is not of that name, is nobody', async () => {
    const replica = await createReplica({ host: '127.0.0.1', port: 1 });
    const lease = replicaLease(replica, 0);
    const { keys: _, ...known } = replica;
    assert.deepEqual(replicaOf(lease), known);
    const { metadata, spec } = lease;
    assert.equal(replicaOf({ ...lease, metadata: { ...metadata, annotations: {} } }), undefined);
    assert.equal(replicaOf({ ...lease, metadata: { ...metadata, name: 'another' } }), undefined);
    assert.equal(replicaOf({ ...lease, spec: { ...spec, holderIdentity: '../x' } }), undefined);
  });
});
