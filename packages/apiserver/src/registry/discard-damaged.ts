import { isStatusError, type ResourceType } from '@asterism/machinery';
import type { UserInfo } from '../contract/user-info.ts';
import type { ObjectRef, Registry } from './registry.ts';
import { requireResource } from './require-resource.ts';
import { IGNORE_READ_ERROR } from '../storage/storage-read-error.ts';

/**
 * Calls `ensure`, which makes sure of an object that the server itself writes at each start. If the stored copy is damaged, it is
 * deleted first: the server knows what belongs there, and nobody else could repair a server that does not start.
 */
export async function discardingDamaged(
  registry: Registry,
  type: ResourceType,
  { ref, user }: { ref: ObjectRef; user: UserInfo },
  ensure: () => Promise<void>,
): Promise<void> {
  try {
    await ensure();
  } catch (error) {
    if (!isStatusError(error, 'StorageReadError')) throw error;
    const options = { [IGNORE_READ_ERROR]: true };
    await registry.delete(requireResource(registry, type), ref, options, { user, ...ref });
    await ensure();
  }
}
