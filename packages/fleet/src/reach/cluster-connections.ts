import { type Connection, createTransport, type HttpTransport, type Transport } from '@asterism/client';
import { SECRETS, type Secret } from '@asterism/machinery';
import type { Cache } from '@asterism/runtime';
import type { TunnelHub } from '@asterism/tunnel';
import { type Cluster, CLUSTERS, CREDENTIAL_SECRET, clusterNamespace, clusterOfNamespace } from '../api/index.ts';
import { MEMBER_LIVENESS } from './member-liveness.ts';

/** How the hub reaches one member, or why it does not. */
export type ClusterConnection = ReachableCluster | { unavailable: string; reach?: Cluster['spec']['reach'] };

export interface ReachableCluster {
  transport: Transport;
  /** Through its agent, which impersonates; else the hub itself does. */
  tunnelled?: boolean;
  /** What callers may do there. */
  reach?: Cluster['spec']['reach'];
}

export interface ConnectionChange {
  name: string;
  /** `available` also tells that a member whose tunnel was down is back. */
  state: 'available' | 'removed';
  transport: Transport | undefined;
}

export interface ClusterConnections {
  /** Undefined: there is no such Cluster. */
  find(name: string): ClusterConnection | undefined;
  /**
   * The pin of the key whose holder may bring the cluster's tunnel; none where there is no such Cluster, or no such key. Waits for
   * a hub that has just started to have read its Clusters. When it changes, the tunnel of whoever held the old one is cut.
   */
  keyOf(name: string): Promise<string | undefined>;
  /** Told of all that is there at once. @returns a function that ends the subscription. */
  onChange(listener: (change: ConnectionChange) => void): () => void;
  /** Follows the Clusters and their credentials in the hub until the signal aborts. Call once. */
  follow(cache: Cache, signal: AbortSignal): void;
}

type Line =
  | { kind: 'Tunnel'; transport: Transport }
  | { kind: 'Direct'; transport: HttpTransport; connection: Connection }
  | { kind: 'Waiting'; reason: string };

/**
 * The one place that turns Clusters into connections: everything that reaches a member, reaches it through here. A renewed
 * token replaces the old one on the same transport, so nobody notices; a transport is replaced only where the way changes.
 */
export function createClusterConnections(tunnels: TunnelHub): ClusterConnections {
  return new FollowedConnections(tunnels);
}

class FollowedConnections implements ClusterConnections {
  readonly #tunnels: TunnelHub;
  readonly #lines = new Map<string, Line>();
  readonly #reach = new Map<string, Cluster['spec']['reach']>();
  readonly #listeners = new Set<(change: ConnectionChange) => void>();
  readonly #keys = new Map<string, string>();
  readonly #read = Promise.withResolvers<void>();
  /** Whether a Cluster that is not known here does not exist. */
  #synced = false;

  constructor(tunnels: TunnelHub) {
    this.#tunnels = tunnels;
  }

  find(name: string): ClusterConnection | undefined {
    const line = this.#lines.get(name);
    if (!line)
      return this.#synced ? undefined : { unavailable: 'the hub has just started and is reading its clusters' };
    const reach = this.#reach.get(name);
    if (line.kind === 'Waiting') return { unavailable: line.reason, reach };
    return { transport: line.transport, tunnelled: line.kind === 'Tunnel', reach };
  }

  async keyOf(name: string): Promise<string | undefined> {
    if (!this.#synced) await this.#read.promise;
    return this.#keys.get(name);
  }

  onChange(listener: (change: ConnectionChange) => void): () => void {
    this.#listeners.add(listener);
    for (const [name, line] of this.#lines) {
      const ready = line.kind === 'Direct' || (line.kind === 'Tunnel' && this.#tunnels.connected(name));
      if (ready) listener({ name, state: 'available', transport: line.transport });
    }
    return () => this.#listeners.delete(listener);
  }

  follow(cache: Cache, signal: AbortSignal): void {
    const clusters = cache.informer(CLUSTERS);
    const secrets = cache.informer(SECRETS, { fieldSelector: `metadata.name=${CREDENTIAL_SECRET}` });
    const secretOf = (name: string) => secrets.store.get(`${clusterNamespace(name)}/${CREDENTIAL_SECRET}`);
    const update = (cluster: Cluster): void => this.#update(cluster, secretOf(cluster.metadata.name ?? ''));
    const updateBySecret = (secret: Secret): void => {
      const cluster = clusters.store.get(clusterOfNamespace(secret.metadata?.namespace ?? '') ?? '');
      if (cluster) update(cluster);
    };
    clusters.addHandler({
      onAdd: update,
      onUpdate: (_, after) => update(after),
      onDelete: ({ metadata }) => this.#remove(metadata.name ?? ''),
    });
    secrets.addHandler({
      onAdd: updateBySecret,
      onUpdate: (_, after) => updateBySecret(after),
      onDelete: updateBySecret,
    });
    clusters.synced(signal).then(
      () => {
        this.#synced = true;
        this.#read.resolve();
      },
      () => this.#read.resolve(), // The hub stops.
    );
    const unsubscribe = this.#tunnels.onChange(({ name, connected }) => {
      const line = this.#lines.get(name);
      if (connected && line?.kind === 'Tunnel') this.#tell({ name, state: 'available', transport: line.transport });
    });
    signal.addEventListener('abort', () => {
      unsubscribe();
      for (const name of this.#lines.keys()) this.#drop(name);
    });
  }

  #update(cluster: Cluster, secret: Secret | undefined): void {
    const name = cluster.metadata.name ?? '';
    const { connection, publicKeyHash, reach } = cluster.spec;
    this.#reach.set(name, reach);
    const key = this.#keys.get(name);
    if (publicKeyHash === undefined) this.#keys.delete(name);
    else this.#keys.set(name, publicKeyHash);
    if (key !== undefined && key !== publicKeyHash)
      this.#tunnels.disconnect(name, 'its Cluster is bound to another key');
    const before = this.#lines.get(name);
    if (connection.type === 'Tunnel') {
      if (before?.kind === 'Tunnel') return;
      this.#drop(name);
      const transport = this.#tunnels.transport(name);
      this.#lines.set(name, { kind: 'Tunnel', transport });
      if (this.#tunnels.connected(name)) this.#tell({ name, state: 'available', transport });
      return;
    }
    const direct = directConnection(connection, secret);
    if (typeof direct === 'string') {
      this.#drop(name);
      this.#lines.set(name, { kind: 'Waiting', reason: direct });
    } else if (before?.kind === 'Direct') {
      if (sameConnection(before.connection, direct)) return;
      before.transport.replaceConnection(direct);
      before.connection = direct;
    } else {
      this.#drop(name);
      const transport = createTransport(direct, MEMBER_LIVENESS);
      this.#lines.set(name, { kind: 'Direct', transport, connection: direct });
      this.#tell({ name, state: 'available', transport });
    }
  }

  #remove(name: string): void {
    this.#reach.delete(name);
    this.#drop(name);
    this.#keys.delete(name);
    this.#tunnels.disconnect(name, 'its Cluster was deleted');
    this.#tell({ name, state: 'removed', transport: undefined });
  }

  #drop(name: string): void {
    const line = this.#lines.get(name);
    this.#lines.delete(name);
    if (line?.kind === 'Direct') void line.transport.close();
  }

  #tell(change: ConnectionChange): void {
    for (const listener of this.#listeners) listener(change);
  }
}

/** What to dial and as whom; or, in words, what is still missing. */
function directConnection(connection: Cluster['spec']['connection'], secret: Secret | undefined): Connection | string {
  if (connection.apiEndpoint === undefined) return 'its spec.connection names no apiEndpoint';
  const credential = credentialOf(secret?.data ?? {});
  if (!credential) return 'nobody has given the hub a credential for it yet: its agent does, or aster join --push';
  return {
    server: connection.apiEndpoint,
    ...(connection.caBundle === undefined ? {} : { caData: connection.caBundle }),
    ...(connection.tlsServerName === undefined ? {} : { tlsServerName: connection.tlsServerName }),
    credential,
  };
}

function credentialOf(data: Record<string, string>): Connection['credential'] | undefined {
  const read = (key: string): string => Buffer.from(data[key] ?? '', 'base64').toString();
  const [token, cert, key] = [read('token'), read('tls.crt'), read('tls.key')];
  const certificate = cert !== '' && key !== '' ? { cert, key } : undefined;
  if (token !== '') return { kind: 'token', token, ...(certificate ? { certificate } : {}) };
  return certificate && { kind: 'certificate', ...certificate };
}

function sameConnection(a: Connection, b: Connection): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
