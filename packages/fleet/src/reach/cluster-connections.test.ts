import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { startTestServer } from '@asterism/apiserver/testing';
import { createClient } from '@asterism/client';
import { type KubeObject, NAMESPACES, SECRETS, type Secret } from '@asterism/machinery';
import type { Cache, InformerHandler } from '@asterism/runtime';
import { createTunnelHub } from '@asterism/tunnel';
import { type Cluster, CLUSTERS } from '../api/index.ts';
import { type ConnectionChange, createClusterConnections } from './cluster-connections.ts';

/** An informer whose content a test sets. */
class Held<T extends KubeObject> {
  readonly objects = new Map<string, T>();
  readonly store = { get: (key: string) => this.objects.get(key) };
  readonly #first = Promise.withResolvers<void>();
  #handler: InformerHandler<T> = {};

  addHandler(handler: InformerHandler<T>): void {
    this.#handler = handler;
  }

  synced(): Promise<void> {
    return this.#first.promise;
  }

  async sync(): Promise<void> {
    this.#first.resolve();
    await this.#first.promise;
  }

  set(key: string, object: T): void {
    const before = this.objects.get(key);
    this.objects.set(key, object);
    if (before) this.#handler.onUpdate?.(before, object, false);
    else this.#handler.onAdd?.(object, false);
  }

  delete(key: string): void {
    const last = this.objects.get(key);
    this.objects.delete(key);
    if (last) this.#handler.onDelete?.(last, false);
  }
}

function setUp() {
  const clusters = new Held<Cluster>();
  const secrets = new Held<Secret>();
  const held = new Map<unknown, unknown>([
    [CLUSTERS, clusters],
    [SECRETS, secrets],
  ]);
  const cache = { informer: (type: unknown) => held.get(type) } as unknown as Cache;
  const tunnels = createTunnelHub();
  const cut: string[] = [];
  tunnels.disconnect = (name, reason) => void cut.push(`${name}: ${reason}`);
  const connections = createClusterConnections(tunnels);
  const stop = new AbortController();
  const changes: string[] = [];
  connections.onChange(({ name, state }: ConnectionChange) => changes.push(`${name} ${state}`));
  connections.follow(cache, stop.signal);
  return { clusters, secrets, connections, changes, cut, stop };
}

function cluster(connection: Cluster['spec']['connection'], publicKeyHash?: string): Cluster {
  return {
    apiVersion: 'asterism.dev/v1alpha1',
    kind: 'Cluster',
    metadata: { name: 'edge-1' },
    spec: { id: 'id-1', syncMode: 'Push', connection, ...(publicKeyHash ? { publicKeyHash } : {}) },
  };
}

function secret(token: string): Secret {
  const metadata = { namespace: 'asterism-cluster-edge-1', name: 'hub-credential' };
  return { metadata, data: { token: Buffer.from(token).toString('base64') } };
}

const SECRET = 'asterism-cluster-edge-1/hub-credential';

describe('the hub’s connections', () => {
  test('a hub that has just started does not deny a cluster that it has not read yet', async () => {
    const { clusters, connections, stop } = setUp();
    assert.deepEqual(Object.keys(connections.find('edge-1') ?? {}), ['unavailable']);
    await clusters.sync();
    assert.equal(connections.find('edge-1'), undefined);
    stop.abort();
  });

  test('a cluster to dial waits for its credential; a renewed one takes the place of the old without a break', async () => {
    await using member = await startTestServer();
    const { clusters, secrets, connections, changes, stop } = setUp();
    const token = () => member.tokenFor({ username: 'asterism-hub', groups: ['system:masters'] });
    clusters.set('edge-1', cluster({ type: 'Direct', apiEndpoint: member.url, caBundle: member.ca.cert }));
    const waiting = connections.find('edge-1');
    assert.match(
      waiting && 'unavailable' in waiting ? waiting.unavailable : '',
      /nobody has given the hub a credential/,
    );
    assert.deepEqual(changes, []);

    secrets.set(SECRET, secret(token()));
    assert.deepEqual(changes, ['edge-1 available']);
    const found = connections.find('edge-1');
    assert.ok(found && 'transport' in found);
    const client = createClient({ transport: found.transport });
    const watch = client
      .resource(NAMESPACES)
      .watch({ signal: AbortSignal.timeout(5_000) })
      [Symbol.asyncIterator]();
    await watch.next();

    secrets.set(SECRET, secret('a token that the member does not know'));
    await assert.rejects(client.resource(NAMESPACES).list(), /Unauthorized/, 'the new token is used at once');
    secrets.set(SECRET, secret(token()));
    await client.resource(NAMESPACES).list();
    assert.deepEqual(connections.find('edge-1'), found);
    await member.client.resource(NAMESPACES).create({ metadata: { name: 'later' } });
    for (let next = await watch.next(); ; next = await watch.next()) {
      const { object } = next.value as { object: KubeObject };
      if (object.metadata?.name === 'later') break;
    }
    await watch.return?.();
    assert.deepEqual(changes, ['edge-1 available'], 'nobody had to notice');
    stop.abort();
  });

  test('whose key counts is known once the clusters were read, and who held another is cut off', async () => {
    const { clusters, connections, cut, stop } = setUp();
    const asked = connections.keyOf('edge-1');
    clusters.set('edge-1', cluster({ type: 'Tunnel' }, 'sha256:a'));
    await clusters.sync();
    assert.equal(await asked, 'sha256:a');
    clusters.set('edge-1', { ...cluster({ type: 'Tunnel' }, 'sha256:a'), metadata: { name: 'edge-1', labels: {} } });
    assert.deepEqual(cut, []);
    clusters.set('edge-1', cluster({ type: 'Tunnel' }, 'sha256:b'));
    assert.equal(await connections.keyOf('edge-1'), 'sha256:b');
    clusters.set('edge-1', cluster({ type: 'Tunnel' }));
    assert.equal(await connections.keyOf('edge-1'), undefined);
    clusters.set('edge-1', cluster({ type: 'Tunnel' }, 'sha256:c'));
    clusters.delete('edge-1');
    assert.equal(await connections.keyOf('edge-1'), undefined);
    const another = 'edge-1: its Cluster is bound to another key';
    assert.deepEqual(cut, [another, another, 'edge-1: its Cluster was deleted']);
    stop.abort();
  });

  test('a cluster that leaves, or is reached in another way, is told', () => {
    const { clusters, connections, changes, stop } = setUp();
    clusters.set('edge-1', cluster({ type: 'Tunnel' }));
    assert.ok('transport' in (connections.find('edge-1') ?? {}));
    assert.deepEqual(changes, [], 'its agent is not connected');
    clusters.set('edge-1', cluster({ type: 'Direct' }));
    const found = connections.find('edge-1');
    assert.match(found && 'unavailable' in found ? found.unavailable : '', /apiEndpoint/);
    clusters.delete('edge-1');
    assert.deepEqual(changes, ['edge-1 removed']);
    stop.abort();
  });
});
