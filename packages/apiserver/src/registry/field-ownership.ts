import { type KubeObject, type ManagedFieldsEntry, updateManagedFields } from '@asterism/machinery';
import type { ServedVersion } from './served-version.ts';
import type { Draft } from './strategy.ts';

export interface Ownership {
  manager: string | undefined;
  now: string;
  subresource: string | undefined;
}

/** The `managedFields` of a write that is not an apply, set in `draft`. */
export function trackFields(
  resource: ServedVersion,
  draft: Draft,
  old: KubeObject | undefined,
  ownership: Ownership,
): void {
  const schema = resource.structural;
  if (!schema) return;
  const managedFields = updateManagedFields({
    before: old,
    after: draft,
    schema,
    manager: ownership.manager ?? 'unknown',
    time: ownership.now,
    resetFields: resetFields(resource, ownership.subresource),
    ...(ownership.subresource ? { subresource: ownership.subresource } : {}),
  });
  if (managedFields) draft.metadata.managedFields = managedFields;
  else delete draft.metadata.managedFields;
}

/** Fields that a write by this endpoint cannot change, and that nobody comes to own by it. */
export function resetFields(resource: ServedVersion, subresource: string | undefined): readonly (readonly string[])[] {
  const own = resource.strategy.resetFields;
  if (subresource === 'status' && own?.status) return own.status;
  if (subresource === undefined && own?.main) return own.main;
  if (subresource === 'status') return resource.storage === 'custom' ? [['spec'], ['metadata']] : [['spec']];
  return resource.hasSubresource('status') ? [['status']] : [];
}

/** Whether two lists of entries say the same but for when. */
export function sameOwners(a: readonly ManagedFieldsEntry[] = [], b: readonly ManagedFieldsEntry[] = []): boolean {
  const timeless = (entries: readonly ManagedFieldsEntry[]): string =>
    JSON.stringify(entries.map((entry) => ({ ...entry, time: undefined })));
  return timeless(a) === timeless(b);
}
