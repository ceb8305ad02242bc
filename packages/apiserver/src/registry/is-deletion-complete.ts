import type { KubeObject } from '@asterism/machinery';
import type { ServedVersion } from './served-version.ts';

/** Whether an object that waits for its deletion has no finalizer and no grace period left. */
export function isDeletionComplete(resource: ServedVersion, { metadata, spec }: KubeObject): boolean {
  if (!metadata?.deletionTimestamp || (metadata.finalizers?.length ?? 0) > 0) return false;
  if (resource.groupResource === 'namespaces')
    return ((spec as { finalizers?: unknown[] } | undefined)?.finalizers?.length ?? 0) === 0;
  return (metadata.deletionGracePeriodSeconds ?? 0) === 0;
}
