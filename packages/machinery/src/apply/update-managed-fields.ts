import { deepEqual } from '../deep-equal.ts';
import { finishSteps, type Steps } from '../finish-steps.ts';
import type { KubeObject, ManagedFieldsEntry } from '../object.ts';
import {
  capUpdaters,
  type FieldOwner,
  type FieldOwners,
  ownerId,
  readManagedFields,
  writeManagedFields,
} from './field-owners.ts';
import { isEmptySet, unionSets } from './field-set.ts';
import { type FieldTracking, FieldUpdater } from './field-updater.ts';
import { ElementError } from './path-element.ts';
import { withoutManagedFields } from './without-managed-fields.ts';

export interface UpdateOptions extends FieldTracking {
  /** The stored object; undefined where it is being created. */
  before: KubeObject | undefined;
  /** The object as it will be stored, in the version of the request. */
  after: KubeObject;
}

/**
 * Who owns the fields of an object after a write that is not an apply: the writer owns what it added or changed and everybody
 * else loses that; what was removed nobody owns. Entries are merged by manager, operation, version and subresource; those
 * left with nothing go, and time stands still for entries that did not change.
 *
 * `managedFields` of `after` itself count, as a client may edit them; an empty list or one empty entry resets all, and what
 * cannot be read is as if it were not there. An object without any owner stays so until somebody applies.
 *
 * @returns the `managedFields` to store with `after`; undefined for none, also where a list's items have no keys or are no
 *   members of a set: such an object is refused for other reasons, or was stored before its schema said so.
 */
export function updateManagedFields(options: UpdateOptions): ManagedFieldsEntry[] | undefined {
  return finishSteps(updateManagedFieldsInSteps(options));
}

/** {@link updateManagedFields} for a caller that does something else between two steps: an object may have thousands of fields. */
export function* updateManagedFieldsInSteps(options: UpdateOptions): Steps<ManagedFieldsEntry[] | undefined> {
  const { before, after } = options;
  const owners = startingOwners(options);
  if (owners.size === 0 && before !== undefined) return undefined;
  const updater = new FieldUpdater(options, options.apiVersion ?? after.apiVersion ?? '');
  const live = before === undefined ? {} : withoutManagedFields(before);
  const written = withoutManagedFields(after);
  yield;
  try {
    // The updater keeps what it compared.
    updater.compare(live, written, updater.apiVersion);
    yield;
    const tracked = trackUpdate(updater, options, live, written, owners);
    yield;
    return writeManagedFields(tracked);
  } catch (error) {
    // A list whose items cannot be told apart: nobody owns anything; that it is wrong is said by its validation.
    if (error instanceof ElementError) return undefined;
    throw error;
  }
}

/** The owners after an update by `tracking.manager`; none of the arguments is changed. */
export function trackUpdate(
  updater: FieldUpdater,
  tracking: Pick<FieldTracking, 'manager' | 'subresource' | 'time'>,
  before: KubeObject,
  after: KubeObject,
  owners: FieldOwners,
): FieldOwners {
  const { left } = updater.transfer(before, after, updater.reconcile(owners), undefined);
  const change = updater.compare(before, after, updater.apiVersion);
  const fields = updater.withoutUntracked(change?.changed ?? {});
  if (isEmptySet(fields)) return capUpdaters(left);
  const writer: FieldOwner = {
    manager: tracking.manager,
    operation: 'Update',
    apiVersion: updater.apiVersion,
    subresource: tracking.subresource ?? '',
    time: tracking.time,
    fields,
  };
  const id = ownerId(writer);
  const previous = left.get(id);
  left.set(id, previous ? { ...writer, fields: unionSets(fields, previous.fields) } : writer);
  return capUpdaters(left);
}

function startingOwners({ before, after, subresource }: UpdateOptions): FieldOwners {
  const kept = before?.metadata?.managedFields;
  const stored = () => readManagedFields(kept, true) ?? new Map();
  if (subresource) return stored();
  const given = after.metadata?.managedFields;
  if (given && deepEqual(given, kept)) return stored();
  if (isReset(given)) return new Map();
  const owners = readManagedFields(given);
  return owners && owners.size > 0 ? owners : stored();
}

function isReset(entries: readonly ManagedFieldsEntry[] | null | undefined): boolean {
  if (!entries) return false;
  return entries.length === 0 || (entries.length === 1 && Object.keys(entries[0] ?? {}).length === 0);
}
