import {
  CLUSTER_ROLE_BINDINGS,
  CLUSTER_ROLES,
  type KubeObject,
  type ResourceType,
  ROLE_BINDINGS,
  ROLES,
} from '@asterism/machinery';
import { type Clock, type Cluster, type Informer, systemClock } from '@asterism/runtime';
import { AccessReviews, authorizeBy } from './access-reviews.ts';
import { KnownWriters } from './known-writers.ts';
import { PlacingRights } from './placing-rights.ts';
import { readRbac } from './read-rbac.ts';

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
  readonly #writers: KnownWriters;
  readonly #informers: readonly Informer[];
  readonly #clock: Clock;

  /** @param local - the API server that holds the policies. */
  constructor(local: Cluster, { authorsRecorded, clock = systemClock }: RightsOptions) {
    this.#reviews = new AccessReviews(authorizeBy(local.client));
    this.#writers = new KnownWriters((signal) => readRbac(local.client, signal));
    this.#informers = [ROLES, CLUSTER_ROLES, ROLE_BINDINGS, CLUSTER_ROLE_BINDINGS].map((type) =>
      local.cache.informer<KubeObject>(type as ResourceType<KubeObject>, { metadataOnly: true }),
    );
    this.#clock = clock;
    this.rights = new PlacingRights({ reviews: this.#reviews, writers: this.#writers, authorsRecorded });
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
      // If the API server does not answer, nothing is decided by it; the next look asks again.
      const writersChanged = await this.#writers.refresh(signal).catch(() => false);
      const answersChanged = await this.#reviews.recheck(signal);
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
