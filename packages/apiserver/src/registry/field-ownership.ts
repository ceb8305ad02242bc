import {
  deepEqual,
  type KubeObject,
  type ManagedFieldsEntry,
  type UpdateOptions,
  updateManagedFields,
  updateManagedFieldsInSteps,
} from '@asterism/machinery';
import type { ServedVersion } from './served-version.ts';
import type { Draft } from '../contract/strategy.ts';
import type { Write } from './write.ts';

export interface Ownership {
  manager: string | undefined;
  now: string;
  subresource: string | undefined;
  /** Lists that were given as empty, of which nothing is left in the draft. */
  emptied?: readonly (readonly string[])[] | undefined;
}

/** The `managedFields` of a write that is not an apply, set in `draft`. */
export function trackFields(
  resource: ServedVersion,
  draft: Draft,
  old: KubeObject | undefined,
  ownership: Ownership,
): void {
  const options = trackingOf(resource, draft, old, ownership);
  if (options) setOwners(draft, updateManagedFields(options));
}

/** {@link trackFields} for the object of a write, unless an apply has set its owners. Others have their turn while it takes long. */
export function trackWrite(write: Write): Promise<void> | undefined {
  const { resource, context, object, old, emptied } = write;
  if (object === undefined || write.tracked) return undefined;
  const { now } = write.strategyContext;
  const { fieldManager: manager, subresource } = context;
  const options = trackingOf(resource, object, old, { manager, subresource, now, emptied });
  return options && write.work.run(updateManagedFieldsInSteps(options)).then((owners) => setOwners(object, owners));
}

function trackingOf(
  resource: ServedVersion,
  draft: Draft,
  old: KubeObject | undefined,
  ownership: Ownership,
): UpdateOptions | undefined {
  const schema = resource.structural;
  if (!schema) return undefined;
  return {
    before: old,
    after: draft,
    schema,
    manager: ownership.manager ?? 'unknown',
    time: ownership.now,
    resetFields: resetFields(resource, ownership.subresource),
    ...(ownership.subresource ? { subresource: ownership.subresource } : {}),
    ...(ownership.emptied?.length ? { emptied: ownership.emptied } : {}),
  };
}

function setOwners(draft: Draft, managedFields: ManagedFieldsEntry[] | undefined): void {
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
  return a.length === b.length && a.every((entry, i) => isSameEntry(entry, b[i]!));
}

function isSameEntry(a: ManagedFieldsEntry, b: ManagedFieldsEntry): boolean {
  return a === b || deepEqual({ ...a, time: undefined }, { ...b, time: undefined });
}
