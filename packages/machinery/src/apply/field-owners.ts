import type { ManagedFieldsEntry } from '../object.ts';
import { EMPTY_SET, type FieldSet, unionOfSets } from './field-set.ts';
import { readFieldsV1, writeFieldsV1 } from './fields-v1.ts';

/** One entry of managedFields with its fields read. */
export interface FieldOwner {
  manager: string;
  operation: 'Apply' | 'Update';
  apiVersion: string;
  subresource: string;
  /** RFC 3339; undefined where the entry has none. */
  time: string | undefined;
  fields: FieldSet;
  /** The entry that it was read from. */
  entry?: ManagedFieldsEntry;
}

/**
 * The owners of an object's fields by {@link ownerId}. Copied, never changed, by what works on it: {@link FieldOwner} objects
 * are shared.
 */
export type FieldOwners = Map<string, FieldOwner>;

/** Updates are merged into one entry from the oldest on where there are more entries of updaters than this. */
const MAX_UPDATERS = 10;
const OLD_UPDATERS = 'ancient-changes';

/** An applier is the same whatever version it applies in; an updater has an entry a version. Sorts as upstream sorts them. */
export function ownerId(owner: Pick<FieldOwner, 'manager' | 'operation' | 'apiVersion' | 'subresource'>): string {
  return JSON.stringify({
    manager: owner.manager || undefined,
    operation: owner.operation,
    apiVersion: owner.operation === 'Update' ? owner.apiVersion : undefined,
    subresource: owner.subresource || undefined,
  });
}

/**
 * Reads managedFields; undefined where an entry is malformed: no operation, no version, unreadable fields.
 *
 * @param isStored the entries were written by {@link writeManagedFields}: their fields need not be looked at.
 */
export function readManagedFields(
  entries: readonly ManagedFieldsEntry[] | null | undefined,
  isStored = false,
): FieldOwners | undefined {
  const owners: FieldOwners = new Map();
  for (const entry of entries ?? []) {
    const fields = isStored ? (entry.fieldsV1 ?? {}) : readFieldsV1(entry.fieldsV1);
    const { operation, apiVersion } = entry;
    if (operation !== 'Apply' && operation !== 'Update') return undefined;
    if (!apiVersion || entry.fieldsType !== 'FieldsV1' || !fields) return undefined;
    const { manager = '', subresource = '', time } = entry;
    const owner: FieldOwner = { manager, operation, apiVersion, subresource, time: time ?? undefined, fields, entry };
    owners.set(ownerId(owner), owner);
  }
  return owners;
}

/** The entries in the order in which a server keeps them; undefined for none. */
export function writeManagedFields(owners: FieldOwners): ManagedFieldsEntry[] | undefined {
  if (owners.size === 0) return undefined;
  return [...owners.values()].sort(compareOwners).map((owner) => unchangedEntry(owner) ?? makeEntry(owner));
}

/** The entry that the owner was read from, where it still says the same. */
function unchangedEntry({ entry, ...owner }: FieldOwner): ManagedFieldsEntry | undefined {
  const isSame =
    entry?.fieldsV1 === owner.fields &&
    (entry.manager ?? '') === owner.manager &&
    entry.operation === owner.operation &&
    entry.apiVersion === owner.apiVersion &&
    (entry.time ?? undefined) === owner.time &&
    (entry.subresource ?? '') === owner.subresource;
  return isSame ? entry : undefined;
}

function makeEntry(owner: FieldOwner): ManagedFieldsEntry {
  return {
    ...(owner.manager === '' ? {} : { manager: owner.manager }),
    operation: owner.operation,
    apiVersion: owner.apiVersion,
    ...(owner.time === undefined ? {} : { time: owner.time }),
    fieldsType: 'FieldsV1',
    fieldsV1: writeFieldsV1(owner.fields),
    ...(owner.subresource === '' ? {} : { subresource: owner.subresource }),
  };
}

function compareOwners(a: FieldOwner, b: FieldOwner): number {
  return (
    compareText(a.operation, b.operation) ||
    seconds(a) - seconds(b) ||
    compareText(a.manager, b.manager) ||
    compareText(a.apiVersion, b.apiVersion) ||
    compareText(a.subresource, b.subresource)
  );
}

/** Merges the oldest updaters of each version until no more than ten entries of updaters are left. */
export function capUpdaters(owners: FieldOwners): FieldOwners {
  const updaters = [...owners].filter(([, owner]) => owner.operation === 'Update');
  if (updaters.length <= MAX_UPDATERS) return owners;
  updaters.sort(([idA, a], [idB, b]) => seconds(a) - seconds(b) || compareText(idA, idB));
  const capped = new Map(owners);
  const firstOfVersion = new Map<string, string>();
  // Each grows by every entry that is merged into it: they are united once, at the end.
  const mergedFields = new Map<string, FieldSet[]>();
  let count = updaters.length;
  for (const [id, owner] of updaters) {
    if (count <= MAX_UPDATERS) break;
    const { apiVersion } = owner;
    const first = firstOfVersion.get(apiVersion);
    if (first === undefined) {
      firstOfVersion.set(apiVersion, id);
      continue;
    }
    const merged: FieldOwner = { ...owner, manager: OLD_UPDATERS, subresource: '' };
    const bucket = ownerId(merged);
    const previous = capped.get(bucket) ?? capped.get(first)!;
    if (!capped.has(bucket)) capped.delete(first);
    capped.delete(id);
    const parts = mergedFields.get(bucket) ?? [previous.fields];
    parts.push(owner.fields);
    mergedFields.set(bucket, parts);
    capped.set(bucket, { ...merged, fields: EMPTY_SET });
    count -= 1;
  }
  for (const [bucket, parts] of mergedFields) {
    capped.set(bucket, { ...capped.get(bucket)!, fields: unionOfSets(parts) });
  }
  return capped;
}

function seconds(owner: FieldOwner): number {
  return owner.time === undefined ? 0 : Math.floor(Date.parse(owner.time) / 1000);
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
