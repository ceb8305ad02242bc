import type { Clock } from '@asterism/client';
import { CLUSTER_ROLE_BINDINGS, CLUSTER_ROLES, type ClusterRole, type ClusterRoleBinding } from '@asterism/machinery';
import type { Cache, Informer } from '@asterism/runtime';
import { type Cluster, CLUSTERS } from '../api/index.ts';
import { type Callers, callersOf, onlyProxyRules, onlySubjects } from './callers.ts';

/** Who may come to which member, as the hub's RBAC is now. */
export interface CallersDirectory {
  /** Undefined until the hub has read its RBAC. */
  of(clusterName: string): Callers | undefined;
  /**
   * The same as soon as the test passes, or as it is after `withinMs`: RBAC has let a caller in a moment ago that this directory
   * may not have read yet.
   */
  settled(clusterName: string, test: (callers: Callers) => boolean, withinMs: number): Promise<Callers | undefined>;
  /**
   * Somebody comes whom no binding names: in `system:masters`, or let in by another authorizer than RBAC. From now on a caller by
   * name, for an hour, or until the RBAC of the hub changes.
   */
  admit(clusterName: string, username: string): void;
  /** Told whenever it may have changed. @returns a function that ends the subscription. */
  onChange(listener: () => void): () => void;
  /** Follows the RBAC and the Clusters of the hub until the signal aborts. Call once. */
  follow(cache: Cache, signal: AbortSignal): void;
}

/** How long somebody stays a caller who was let in by no binding, ms. */
const ADMITTED_MS = 3_600_000;

export function createCallersDirectory(clock: Clock): CallersDirectory {
  return new FollowedRbac(clock);
}

class FollowedRbac implements CallersDirectory {
  readonly #clock: Clock;
  readonly #listeners = new Set<() => void>();
  /** Thrown away with each change, as is what follows. */
  readonly #known = new Map<string, Callers>();
  /** The bindings of roles that open the proxy of any cluster: few, where every agent has a role and a binding of its own. */
  #opening: readonly ClusterRoleBinding[] | undefined;
  /** By cluster and user: what takes them out again. */
  readonly #admitted = new Map<string, Map<string, () => void>>();
  #roles: Informer<ClusterRole> | undefined;
  #bindings: Informer<ClusterRoleBinding> | undefined;
  #clusters: Informer<Cluster> | undefined;
  #synced = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  of(clusterName: string): Callers | undefined {
    if (!this.#synced) return undefined;
    const known = this.#known.get(clusterName);
    if (known) return known;
    const roles = this.#roles!.store;
    const further = this.#clusters!.store.get(clusterName)?.spec.reach?.groups;
    this.#opening ??= this.#bindings!.store.list().filter((binding) => this.#opens(binding));
    const admitted = [...(this.#admitted.get(clusterName)?.keys() ?? [])];
    const callers = callersOf(clusterName, this.#opening, {
      admitted,
      roleOf: (name) => roles.get(name),
      further,
    });
    this.#known.set(clusterName, callers);
    return callers;
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
    const users = this.#admitted.get(clusterName) ?? new Map<string, () => void>();
    this.#admitted.set(clusterName, users);
    if (users.has(username)) return;
    const forget = (): void => {
      users.delete(username);
      this.#tell();
    };
    users.set(username, this.#clock.setTimer(forget, ADMITTED_MS));
    this.#tell();
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  follow(cache: Cache, signal: AbortSignal): void {
    const roles = cache.informer(CLUSTER_ROLES, { transform: onlyProxyRules });
    const bindings = cache.informer(CLUSTER_ROLE_BINDINGS, { transform: onlySubjects });
    const clusters = cache.informer(CLUSTERS);
    this.#roles = roles;
    this.#bindings = bindings;
    this.#clusters = clusters;
    const change = (): void => this.#change();
    const ofRole = (...versions: ClusterRole[]): void => {
      if (versions.some(({ rules = [] }) => rules.length > 0)) change();
    };
    const ofBinding = (...versions: ClusterRoleBinding[]): void => {
      if (versions.some((binding) => this.#opens(binding))) change();
    };
    roles.addHandler({ onAdd: (role) => ofRole(role), onUpdate: ofRole, onDelete: (role) => ofRole(role) });
    bindings.addHandler({
      onAdd: (binding) => ofBinding(binding),
      onUpdate: ofBinding,
      onDelete: (binding) => ofBinding(binding),
    });
    clusters.addHandler({
      onUpdate: (before, after) => {
        if (before.metadata.generation !== after.metadata.generation) this.#tell();
      },
      onDelete: ({ metadata }) => {
        const name = metadata.name ?? '';
        for (const cancel of this.#admitted.get(name)?.values() ?? []) cancel();
        this.#admitted.delete(name);
      },
    });
    Promise.all([roles.synced(signal), bindings.synced(signal), clusters.synced(signal)]).then(
      () => {
        this.#synced = true;
        change();
      },
      () => {}, // The hub stops.
    );
    signal.addEventListener('abort', () => this.#forgetAdmitted(), { once: true });
  }

  #opens({ roleRef }: ClusterRoleBinding): boolean {
    return (this.#roles?.store.get(roleRef.name)?.rules?.length ?? 0) > 0;
  }

  /** The RBAC of the hub changed: whoever came by none of it may come by none of it now. */
  #change(): void {
    this.#forgetAdmitted();
    this.#opening = undefined;
    this.#tell();
  }

  #forgetAdmitted(): void {
    for (const users of this.#admitted.values()) for (const cancel of users.values()) cancel();
    this.#admitted.clear();
  }

  #tell(): void {
    this.#known.clear();
    if (!this.#synced) return;
    for (const listener of this.#listeners) listener();
  }
}
