import type { Pod } from '@asterism/machinery';
import { compareForDeletion, isActive } from './pod-state.ts';
import { stableSuffix } from './stable-suffix.ts';

export interface ReplicaPlan {
  /** Names of pods to make. */
  create: string[];
  /** Pods to give up. */
  remove: Pod[];
}

/**
 * What brings the pods of one owner to `replicas`.
 *
 * P1. A name is the owner's with a suffix of its slot, and the lowest free slots are taken: from the same picture the same
 *     names follow, so a plan made twice makes nothing twice.
 * P2. A pod on its way out still holds its slot, and counts no more; so does one of that name that is not the owner's
 *     (`isTaken`): it was released.
 */
export function planReplicas(
  owner: { name: string; uid: string },
  replicas: number,
  pods: readonly Pod[],
  isTaken: (name: string) => boolean = () => false,
): ReplicaPlan {
  const active = pods.filter(isActive);
  const taken = new Set(pods.map((pod) => pod.metadata?.name));
  const create: string[] = [];
  for (let slot = 0; active.length + create.length < replicas; slot += 1) {
    const name = `${owner.name}-${stableSuffix(`${owner.uid}/${slot}`, 5)}`;
    if (!taken.has(name) && !isTaken(name)) create.push(name);
  }
  const surplus = Math.max(0, active.length - replicas);
  return { create, remove: active.toSorted(compareForDeletion).slice(0, surplus) };
}
