import type { KubeObject } from '@asterism/machinery';
import type { ManifestStatus } from '../../api/index.ts';
import { healthOf } from '../interpret/health.ts';
import { reflectStatus } from '../interpret/reflect-status.ts';
import type { ManifestRef } from '../works/manifest-ref.ts';

/**
 * What is told of an object that does not stand as it shall.
 *
 * @param last the generation of the Work from which it was applied last
 */
export function notApplied(
  ref: ManifestRef,
  last: number | undefined,
  live: KubeObject | undefined,
  message: string,
): ManifestStatus {
  return {
    ...ref,
    applied: false,
    message,
    ...(last === undefined ? {} : { observedGeneration: last }),
    ...(live ? observationOf(live) : { health: 'Unknown' }),
  };
}

/** What is told of fields that were left out; nothing where none were. */
export function remarkOn(omitted: readonly string[]): Pick<ManifestStatus, 'message'> {
  if (omitted.length === 0) return {};
  return { message: `applied without ${omitted.join(', ')}: the cluster's API does not know it` };
}

/** What is told of an object as it stands. */
export function observationOf(live: KubeObject): Pick<ManifestStatus, 'health' | 'generation' | 'status'> {
  const status = reflectStatus(live);
  const generation = live.metadata?.generation;
  return {
    health: healthOf(live),
    ...(generation === undefined ? {} : { generation }),
    ...(status ? { status: { ...status } } : {}),
  };
}
