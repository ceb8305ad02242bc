import type { KubeObject } from '@asterism/machinery';
import type { ServedVersion } from './served-version.ts';

/** Whether an object that waits for its deletion has no finalizer and no grace period left. */
export function isDeletionComplete({ strategy }: ServedVersion, object: KubeObject): boolean {
  const { metadata } = object;
  if (!metadata?.deletionTimestamp || (metadata.finalizers?.length ?? 0) > 0) return false;
  return strategy.isDeletionComplete?.(object) ?? (metadata.deletionGracePeriodSeconds ?? 0) === 0;
}
