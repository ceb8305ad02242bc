import { deepEqual } from '@asterism/machinery';
import type { Predicate } from '@asterism/runtime';
import type { Cluster } from '../api/index.ts';

/** Changes of a cluster that filters, weights or overrides can see. A cluster tells of itself every few seconds. */
export const suitabilityChanged: Predicate<Cluster> = {
  update: (before, after) =>
    before.metadata.deletionTimestamp !== after.metadata.deletionTimestamp ||
    !deepEqual(before.metadata.labels, after.metadata.labels) ||
    !deepEqual(before.spec, after.spec) ||
    !deepEqual(before.status?.apis, after.status?.apis),
};

/** Changes of the room in a cluster: of interest to what found none. */
export const capacityChanged: Predicate<Cluster> = {
  create: () => false,
  update: (before, after) =>
    !deepEqual(before.status?.resources, after.status?.resources) ||
    !deepEqual(before.status?.nodeCapacity, after.status?.nodeCapacity),
  delete: () => false,
};
