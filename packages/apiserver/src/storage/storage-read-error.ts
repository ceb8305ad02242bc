import { failure, type ResourceName, resourcePath, type StatusError } from '@asterism/machinery';
import { formatDamagedRows } from './damaged-rows.ts';
import type { StorageKey } from '../contract/object-change.ts';

/** A Status lists so many causes, as upstream. */
const MAX_CAUSES = 100;

/** The delete option of Kubernetes 1.32 that deletes an object which cannot be read. */
export const IGNORE_READ_ERROR = 'ignoreStoreReadErrorWithClusterBreakingPotential';

/** A resource as its path names it. */
export type ResourcePath = ResourceName & { version?: string };

/**
 * The answer of whatever needs damaged objects: it names them and what to do, and nothing of their content.
 *
 * @param rows at least one; all of one resource
 */
export function storageReadError(rows: readonly StorageKey[], type: ResourcePath): StatusError {
  const { group, resource } = type;
  const [first] = rows;
  const causes = rows.slice(0, MAX_CAUSES).map((row) => ({
    reason: 'UnexpectedServerResponse',
    message: 'the stored copy does not match its checksum',
    field: `/registry/${[row.groupResource, row.namespace, row.name].filter((part) => part !== '').join('/')}`,
  }));
  return failure(
    500,
    `failed to read one or more ${resource} from the storage: the stored copy of ${formatDamagedRows(rows)} is damaged: ` +
      damageRemedy(first, type),
    {
      reason: 'StorageReadError',
      details: {
        ...(first && rows.length === 1 ? { name: first.name } : {}),
        ...(group ? { group } : {}),
        kind: resource,
        causes,
      },
    },
  );
}

/** What to do about a damaged row. Without a version there is no path to name. */
export function damageRemedy(row: StorageKey | undefined, { group, version, resource }: ResourcePath): string {
  if (row === undefined || version === undefined) {
    return `restore a backup, or delete it with the option ${IGNORE_READ_ERROR}`;
  }
  const path = resourcePath({ group, version, resource }, row);
  return `restore a backup, or delete it and create it again: kubectl delete --raw '${path}?${IGNORE_READ_ERROR}=true'`;
}
