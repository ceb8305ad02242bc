import {
  CLUSTER_ROLE_BINDINGS,
  CLUSTER_ROLES,
  type ClusterRole,
  type ClusterRoleBinding,
  type KubeObject,
  type ResourceType,
  type Role,
  type RoleBinding,
  ROLE_BINDINGS,
  ROLES,
} from '@asterism/machinery';
import { type Clock, type Cluster, type Informer, systemClock } from '@asterism/runtime';
import { AccessReviews, authorizeBy } from './access-reviews.ts';
import { PlacingRights } from './placing-rights.ts';
import type { Rbac } from './policy-writers.ts';

const BY_NAMESPACE = 'namespace';
/** Roles and bindings change together. */
const GATHER_MS = 300;
/** Rights may come from elsewhere than RBAC, which no watch reports. */
const RECHECK_MS = 60_000;

export interface RightsOptions {
  /** Whether the API server records the authors of policies: see {@link PlacingRights}. */
  authorsRecorded: boolean;
  clock?: Clock | undefined;
}

/** The rights of policies' authors in one API server. */
export class WatchedRights {
  readonly rights: PlacingRights;
  readonly #reviews: AccessReviews;
  readonly #informers: readonly Informer[];
  readonly #clock: Clock;

  /** @param local - the API server that holds the policies. */
  constructor(local: Cluster, { authorsRecorded, clock = systemClock }: RightsOptions) {
    const informer = <T extends KubeObject>(type: ResourceType<T>): Informer<T> => local.cache.informer<T>(type);
    const roles = informer<Role>(ROLES);
    const clusterRoles = informer<ClusterRole>(CLUSTER_ROLES);
    const bindings = informer<RoleBinding>(ROLE_BINDINGS);
    const clusterBindings = informer<ClusterRoleBinding>(CLUSTER_ROLE_BINDINGS);
    bindings.addIndex(BY_NAMESPACE, ({ metadata }) => (metadata?.namespace ? [metadata.namespace] : []));
    const rbac: Rbac = {
      clusterRole: (name) => clusterRoles.store.get(name),
      role: (namespace, name) => roles.store.get(`${namespace}/${name}`),
      clusterRoleBindings: () => clusterBindings.store.list(),
      roleBindings: (namespace) => bindings.store.byIndex(BY_NAMESPACE, namespace),
    };
    this.#reviews = new AccessReviews(authorizeBy(local.client));
    this.#informers = [roles, clusterRoles, bindings, clusterBindings] as unknown as readonly Informer[];
    this.#clock = clock;
    this.rights = new PlacingRights({ reviews: this.#reviews, rbac, authorsRecorded });
  }

  /** Calls back when a decision may come out otherwise: a right has changed, or who may write policies. */
  follow(changed: () => void, signal: AbortSignal): void {
    let cancel: (() => void) | undefined;
    let isLooking = false;
    let isAsked = false;
    const plan = (ms: number): void => {
      cancel?.();
      if (!signal.aborted) cancel = this.#clock.setTimer(() => void look(), ms, { background: true });
    };
    const look = async (): Promise<void> => {
      isLooking = true;
      isAsked = false;
      const writersChanged = this.rights.refreshWriters();
      // If the API server does not answer, nothing is decided by it; the next look asks again.
      const answersChanged = await this.#reviews.recheck(signal).catch(() => false);
      isLooking = false;
      if ((writersChanged || answersChanged) && !signal.aborted) changed();
      plan(isAsked ? GATHER_MS : RECHECK_MS);
    };
    const soon = (): void => {
      if (!isAsked && !isLooking) plan(GATHER_MS);
      isAsked = true;
    };
    for (const informer of this.#informers) {
      informer.addHandler({
        onAdd: (_, initial) => (initial ? undefined : soon()),
        onUpdate: soon,
        onDelete: soon,
      });
    }
    plan(RECHECK_MS);
    signal.addEventListener('abort', () => cancel?.(), { once: true });
  }
}
