import type { Client, Clock } from '@asterism/client';
import {
  CLUSTER_ROLE_BINDINGS,
  CLUSTER_ROLES,
  type ClusterRole,
  type ClusterRoleBinding,
  CONFIG_MAPS,
  type ConfigMap,
} from '@asterism/machinery';
import type { Cache, Informer, Logger } from '@asterism/runtime';
import { CALLERS_CONFIG_MAP, type Cluster, CLUSTERS, clusterNamespace } from '../api/index.ts';
import { admission, admittedIn } from './admitted.ts';
import { type Callers, callersOf, onlyProxyRules, onlySubjects } from './callers.ts';

/** The ConfigMaps that hold callers, of all clusters. */
export const CALLERS_MAPS = { fieldSelector: `metadata.name=${CALLERS_CONFIG_MAP}` };

/** Who may come to which member, as the hub's RBAC is now. */
export interface CallersDirectory {
  /** Undefined until the hub has read its RBAC. */
  of(clusterName: string): Callers | undefined;
  /**
   * The same as soon as the test passes, or as it is after `withinMs`: RBAC has let a caller in a moment ago that this directory
   * may not have read yet.
   */
  settled(clusterName: string, test: (callers: Callers) => boolean, withinMs: number): Promise<Callers | undefined>;
  /** Somebody comes whom no binding names: from now on a caller by name, in every process of the hub (see `admission`). */
  admit(clusterName: string, username: string): void;
  /** What of the cluster's ConfigMap says who was admitted, and until when it counts (ms since 1970). */
  admissions(clusterName: string): { data: Record<string, string>; until: number | undefined };
  /** Told whenever it may have changed. @returns a function that ends the subscription. */
  onChange(listener: () => void): () => void;
  /** Follows the RBAC and the Clusters of the hub until the signal aborts. Call once. `client` writes in a standby too. */
  follow(cache: Cache, options: { client: Client; logger: Logger; signal: AbortSignal }): void;
}

export function createCallersDirectory(clock: Clock): CallersDirectory {
  return new FollowedRbac(clock);
}

interface Followed {
  roles: Informer<ClusterRole>;
  bindings: Informer<ClusterRoleBinding>;
  clusters: Informer<Cluster>;
  maps: Informer<ConfigMap>;
  client: Client;
  logger: Logger;
}

class FollowedRbac implements CallersDirectory {
  readonly #clock: Clock;
  readonly #listeners = new Set<() => void>();
  /** By bindings alone. Thrown away with each change, as is what follows. */
  readonly #known = new Map<string, Callers>();
  /** The bindings of roles that open the proxy of any cluster: few, where every agent has a role and a binding of its own. */
  #opening: readonly ClusterRoleBinding[] | undefined;
  /** Being written. */
  readonly #admitting = new Set<string>();
  #followed: Followed | undefined;
  #synced = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  of(clusterName: string): Callers | undefined {
    if (!this.#followed || !this.#synced) return undefined;
    const callers = this.#byBindings(clusterName, this.#followed);
    const admitted = admittedIn(this.#mapOf(clusterName), callers, this.#clock.wall().getTime());
    if (admitted.length === 0 || callers.anyUser) return callers;
    return this.#compute(
      clusterName,
      this.#followed,
      admitted.map(({ user }) => user),
    );
  }

  async settled(
    clusterName: string,
    test: (callers: Callers) => boolean,
    withinMs: number,
  ): Promise<Callers | undefined> {
    const passes = (): boolean => {
      const callers = this.of(clusterName);
      return callers !== undefined && test(callers);
    };
    if (!passes()) {
      await new Promise<void>((resolve) => {
        const end = (): void => {
          cancel();
          stop();
          resolve();
        };
        const cancel = this.#clock.setTimer(end, withinMs);
        const stop = this.onChange(() => {
          if (passes()) end();
        });
      });
    }
    return this.of(clusterName);
  }

  admit(clusterName: string, username: string): void {
    const followed = this.#followed;
    const key = `${clusterName}/${username}`;
    if (!followed || this.#admitting.has(key)) return;
    this.#admitting.add(key);
    const data = admission(username, this.#byBindings(clusterName, followed), this.#clock.wall().getTime());
    const ref = { namespace: clusterNamespace(clusterName), name: CALLERS_CONFIG_MAP };
    followed.client
      .resource(CONFIG_MAPS)
      .patch(ref, { type: 'merge', body: { data } })
      .catch((error: unknown) => {
        const fields = { err: error, cluster: clusterName, user: username };
        followed.logger.warn(fields, 'a caller that no binding names could not be made known');
      })
      .finally(() => this.#admitting.delete(key));
  }

  admissions(clusterName: string): { data: Record<string, string>; until: number | undefined } {
    if (!this.#followed) return { data: {}, until: undefined };
    const map = this.#mapOf(clusterName);
    const admitted = admittedIn(map, this.#byBindings(clusterName, this.#followed), this.#clock.wall().getTime());
    const data = Object.fromEntries(admitted.map(({ key }) => [key, map?.data?.[key] ?? '']));
    return { data, until: admitted.length === 0 ? undefined : Math.min(...admitted.map(({ until }) => until)) };
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  follow(cache: Cache, { client, logger, signal }: { client: Client; logger: Logger; signal: AbortSignal }): void {
    const roles = cache.informer(CLUSTER_ROLES, { transform: onlyProxyRules });
    const bindings = cache.informer(CLUSTER_ROLE_BINDINGS, { transform: onlySubjects });
    const clusters = cache.informer(CLUSTERS);
    const maps = cache.informer(CONFIG_MAPS, CALLERS_MAPS);
    this.#followed = { roles, bindings, clusters, maps, client, logger };
    const ofRole = (...versions: ClusterRole[]): void => {
      if (versions.some(({ rules = [] }) => rules.length > 0)) this.#change();
    };
    const ofBinding = (...versions: ClusterRoleBinding[]): void => {
      if (versions.some((binding) => this.#opens(binding))) this.#change();
    };
    roles.addHandler({
      onAdd: (role) => ofRole(role),
      onUpdate: (before, role) => ofRole(before, role),
      onDelete: (role) => ofRole(role),
    });
    bindings.addHandler({
      onAdd: (binding) => ofBinding(binding),
      onUpdate: (before, binding) => ofBinding(before, binding),
      onDelete: (binding) => ofBinding(binding),
    });
    clusters.addHandler({
      onUpdate: (before, after) => {
        if (before.metadata.generation !== after.metadata.generation) this.#change();
      },
    });
    maps.addHandler({ onUpdate: () => this.#tell() });
    Promise.all([roles, bindings, clusters, maps].map((informer) => informer.synced(signal))).then(
      () => {
        this.#synced = true;
        this.#change();
      },
      () => {}, // The hub stops.
    );
  }

  #byBindings(clusterName: string, followed: Followed): Callers {
    const known = this.#known.get(clusterName);
    if (known) return known;
    const callers = this.#compute(clusterName, followed, []);
    this.#known.set(clusterName, callers);
    return callers;
  }

  #compute(clusterName: string, { roles, bindings, clusters }: Followed, admitted: readonly string[]): Callers {
    this.#opening ??= bindings.store.list().filter((binding) => this.#opens(binding));
    const further = clusters.store.get(clusterName)?.spec.reach?.groups;
    return callersOf(clusterName, this.#opening, { roleOf: (name) => roles.store.get(name), further, admitted });
  }

  #mapOf(clusterName: string): ConfigMap | undefined {
    return this.#followed?.maps.store.get(`${clusterNamespace(clusterName)}/${CALLERS_CONFIG_MAP}`);
  }

  #opens({ roleRef }: ClusterRoleBinding): boolean {
    return (this.#followed?.roles.store.get(roleRef.name)?.rules?.length ?? 0) > 0;
  }

  #change(): void {
    this.#known.clear();
    this.#opening = undefined;
    this.#tell();
  }

  #tell(): void {
    if (!this.#synced) return;
    for (const listener of this.#listeners) listener();
  }
}
