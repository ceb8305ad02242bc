import type { ManifestStatus, Work } from '../../api/index.ts';
import { type ManifestRef, sameManifest } from '../works/manifest-ref.ts';
import type { News } from './may-wait.ts';

/** What was told of the object, if anything. */
export function statusOf({ status }: Work, ref: ManifestRef): ManifestStatus | undefined {
  return status?.manifestStatuses?.find((each) => sameManifest(each, ref));
}

/** The same, where that is that it was applied as this generation of the Work says. */
export function toldAsApplied(work: Work, ref: ManifestRef): ManifestStatus | undefined {
  const told = statusOf(work, ref);
  return told?.applied === true && told.observedGeneration === work.metadata.generation ? told : undefined;
}

/** What is to tell, beside what was told. */
export function newsOf(work: Work, results: readonly ManifestStatus[]): News[] {
  return results.map((now) => {
    const told = statusOf(work, now);
    return { told, now, changing: told?.observedGeneration !== work.metadata.generation };
  });
}
