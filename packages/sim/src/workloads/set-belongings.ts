import type { Client } from '@asterism/client';
import {
  CONTROLLER_REVISIONS,
  type ControllerRevision,
  type DaemonSet,
  type Pod,
  PODS,
  type StatefulSet,
} from '@asterism/machinery';
import type { Cache } from '@asterism/runtime';
import { claimObjects } from './claim-objects.ts';
import { BY_CONTROLLER, indexByController } from './owned.ts';

/** What a set controls and selects. */
export interface SetBelongings {
  pods: Pod[];
  revisions: ControllerRevision[];
}

/** Claims for a set what is its own, as `claimObjects`; `mayAdopt` is asked of pods. */
export type ClaimBelongings = (
  client: Client,
  owner: DaemonSet | StatefulSet,
  mayAdopt?: (pod: Pod) => boolean,
) => Promise<SetBelongings>;

/** Follows pods and revisions by who controls them. */
export function followBelongings(cache: Cache): ClaimBelongings {
  const pods = cache.informer(PODS);
  const revisions = cache.informer(CONTROLLER_REVISIONS);
  pods.addIndex(BY_CONTROLLER, indexByController);
  revisions.addIndex(BY_CONTROLLER, indexByController);
  return async (client, owner, mayAdopt) => {
    const claim = { client, owner, selector: owner.spec?.selector };
    return {
      pods: await claimObjects({ ...claim, type: PODS, store: pods.store, ...(mayAdopt && { mayAdopt }) }),
      revisions: await claimObjects({ ...claim, type: CONTROLLER_REVISIONS, store: revisions.store }),
    };
  };
}
