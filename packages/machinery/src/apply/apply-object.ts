import { deepEqual } from '../deep-equal.ts';
import { finishSteps, type Steps } from '../finish-steps.ts';
import type { KubeObject } from '../object.ts';
import { unclassifiedError } from '../schema/unclassified-error.ts';
import { badRequest, type StatusError } from '../status.ts';
import { applyConflict, type FieldConflict } from './apply-conflict.ts';
import { checkApplied } from './check-applied.ts';
import { type FieldOwners, ownerId, readManagedFields, writeManagedFields } from './field-owners.ts';
import { isEmptySet } from './field-set.ts';
import { type FieldTracking, FieldUpdater } from './field-updater.ts';
import { allowedByLastApplied, updateLastApplied, upgradesClientSideApply } from './last-applied.ts';
import { mergeObjects } from './merge-objects.ts';
import { fieldSetOf } from './to-field-set.ts';
import { trackUpdate } from './update-managed-fields.ts';
import { withManagedFields, withoutManagedFields } from './without-managed-fields.ts';

/** Stands for everybody who wrote before fields were tracked. */
const BEFORE_FIRST_APPLY = 'before-first-apply';

export interface ApplyOptions extends FieldTracking {
  /** The stored object in the version of the request; undefined where there is none yet. */
  live: KubeObject | undefined;
  /** The fields that the manager wants, and their values. */
  applied: KubeObject;
  /** The live object's managedFields were written by this package: they need not be checked. */
  isStored?: boolean;
  /** Take fields that others own. */
  force?: boolean;
}

export type ApplyOutcome =
  | {
      outcome: 'applied';
      /** The object to default, validate and store, with its managedFields. */
      object: KubeObject;
      /** Whether anything but managedFields differs from the live object. */
      changed: boolean;
    }
  | { outcome: 'conflict'; error: StatusError };

/**
 * Server-side apply (KEP-555), as structured-merge-diff does it: the applied fields are merged into the live object and are
 * the manager's from then on; fields that it applied before and does not apply now are removed unless somebody else owns
 * them; fields that somebody else owns with another value are a conflict, or change hands by force. Equal values are shared.
 *
 * Nothing of the arguments is changed; the object shares with them what stays.
 *
 * @throws StatusError 400 for an applied object that carries managedFields or another version; 500 for one that does not fit
 * its schema (as upstream does) and for stored managedFields that cannot be read.
 */
export function applyObject(options: ApplyOptions): ApplyOutcome {
  return finishSteps(applyObjectInSteps(options));
}

/** {@link applyObject} for a caller that does something else between two steps: an object may have thousands of fields. */
export function* applyObjectInSteps(options: ApplyOptions): Steps<ApplyOutcome> {
  const { live, applied, schema } = options;
  const apiVersion = options.apiVersion ?? applied.apiVersion ?? '';
  checkRequest(applied, apiVersion);
  const fault = checkApplied(applied, schema);
  if (fault !== undefined) {
    throw unclassifiedError(`failed to create typed patch object (${describe(applied)}): ${fault}`);
  }
  yield;
  const updater = new FieldUpdater(options, apiVersion);
  const stored = readManagedFields(live?.metadata?.managedFields, options.isStored);
  if (!stored) throw unclassifiedError('failed to decode managed fields: an entry of managedFields cannot be read');
  const before = live === undefined ? {} : withoutManagedFields(live);
  const owners = stored.size > 0 ? stored : ownersBefore(updater, options, before);
  yield;
  return yield* settle(options, updater, before, owners);
}

function* settle(
  options: ApplyOptions,
  updater: FieldUpdater,
  before: KubeObject,
  owners: FieldOwners,
): Steps<ApplyOutcome> {
  const { applied, live, manager, schema, force = false } = options;
  const result = yield* applyByForce(options, updater, before, owners);
  if (result.conflicts.length > 0 && !force) {
    const upgrade = upgradesClientSideApply(manager) && allowedByLastApplied(before, updater.apiVersion, schema);
    const conflicts = upgrade ? upgrade.withoutAllowed(result.conflicts) : result.conflicts;
    if (conflicts.length > 0) return { outcome: 'conflict', error: applyConflict(conflicts) };
  }
  yield;
  const object = result.changed ? result.object : withoutManagedFields(live ?? {});
  const synced = upgradesClientSideApply(manager) ? updateLastApplied(object, applied) : object;
  return {
    outcome: 'applied',
    object: withManagedFields(synced, writeManagedFields(result.owners)),
    changed: result.changed || synced !== object,
  };
}

interface Application {
  object: KubeObject;
  changed: boolean;
  owners: FieldOwners;
  /** What it took from others. */
  conflicts: readonly FieldConflict[];
}

/** What applying comes to where conflicts are overridden. */
function* applyByForce(
  options: ApplyOptions,
  updater: FieldUpdater,
  before: KubeObject,
  owners: FieldOwners,
): Steps<Application> {
  const { applied, schema, manager, subresource = '', time } = options;
  const writer = { manager, operation: 'Apply', apiVersion: updater.apiVersion, subresource } as const;
  const id = ownerId(writer);
  const known = updater.reconcile(owners);
  const last = known.get(id);
  const stated = updater.withoutReset(fieldSetOf(applied, schema));
  known.set(id, { ...writer, time: last?.time, fields: stated });
  yield;
  const merged = mergeObjects(before, applied, schema) as KubeObject;
  yield;
  const { object, compared } = updater.prune(merged, known, last);
  const changed = !deepEqual(before, compared);
  yield;
  const isShared = known.values().some((owner) => owner !== known.get(id) && owner.apiVersion === updater.apiVersion);
  // The updater keeps what it compared.
  if (isShared) updater.compare(before, compared, updater.apiVersion);
  yield;
  const { left, taken } = updater.transfer(before, compared, known, id);
  const fields = updater.withoutUntracked(stated);
  if (isEmptySet(fields)) left.delete(id);
  else left.set(id, { ...writer, time: changed ? time : last?.time, fields });
  return { object, changed, owners: left, conflicts: taken };
}

/** Where nobody is known to own anything, all that is there belongs to whoever wrote it. */
function ownersBefore(updater: FieldUpdater, options: ApplyOptions, live: KubeObject): FieldOwners {
  return trackUpdate(updater, { ...options, manager: BEFORE_FIRST_APPLY }, {}, live, new Map());
}

function checkRequest(applied: KubeObject, apiVersion: string): void {
  const given = applied.apiVersion ?? '';
  if (given !== apiVersion) {
    throw badRequest(
      `Incorrect version specified in apply patch. Specified patch version: ${given}, expected: ${apiVersion}`,
    );
  }
  if (applied.metadata?.managedFields) throw badRequest('metadata.managedFields must be nil');
}

/** `namespace/name; group/version, Kind=kind`. */
function describe({ apiVersion = '', kind = '', metadata }: KubeObject): string {
  const groupVersion = apiVersion.includes('/') ? apiVersion : `/${apiVersion}`;
  return `${metadata?.namespace ?? ''}/${metadata?.name ?? ''}; ${groupVersion}, Kind=${kind}`;
}
