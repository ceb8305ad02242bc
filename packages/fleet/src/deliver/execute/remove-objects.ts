import { isStatusError } from '@asterism/machinery';
import type { ManifestStatus, Work } from '../../api/index.ts';
import { removeObject } from '../member/member-objects.ts';
import { labelOf } from '../member/other-works.ts';
import { memberRefusalWords } from '../report/refusal-words.ts';
import { formatManifestRef, type ManifestRef, manifestRefOf } from '../works/manifest-ref.ts';
import type { Member } from './manifest-writer.ts';

/**
 * Removes the objects of a Work that pass the test, and returns those that could not be removed.
 *
 * D1  Only an object that carries this Work's label is removed: when the Work does not name it any more, and when the Work is deleted.
 */
export async function removeObjects(
  { cluster, objects }: Member,
  work: Work,
  { signal, test }: { signal: AbortSignal; test: (ref: ManifestRef) => boolean },
): Promise<ManifestStatus[]> {
  const label = labelOf(work);
  const told = (work.status?.manifestStatuses ?? []).map(({ apiVersion, kind, namespace, name }) => {
    return { apiVersion, kind, name, ...(namespace ? { namespace } : {}) };
  });
  const refs = [...told, ...[...work.spec.manifests, ...objects.labelled(label)].map(manifestRefOf)].filter(test);
  const distinct = [...new Map(refs.map((ref) => [formatManifestRef(ref), ref])).values()];
  const preserve = work.spec.preserveResourcesOnDeletion === true && work.metadata.deletionTimestamp !== undefined;
  const left: ManifestStatus[] = [];
  // What was applied first goes last.
  for (const ref of distinct.toReversed()) {
    try {
      await removeObject(cluster, ref, { label, preserve, known: preserve ? undefined : objects.known(ref), signal });
    } catch (error) {
      if (!isStatusError(error)) throw error;
      const words = memberRefusalWords(error, ref);
      left.push({ ...ref, applied: false, message: `${formatManifestRef(ref)} cannot be removed: ${words}` });
    }
  }
  return left;
}
