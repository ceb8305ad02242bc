import { deepEqual } from '../deep-equal.ts';
import type { KubeObject, ManagedFieldsEntry } from '../object.ts';
import { withManagedFields, withoutManagedFields } from './without-managed-fields.ts';

/**
 * `after` with the managedFields of `before` where the two differ in nothing but the times of entries (and in
 * `resourceVersion`): a write that comes to nothing is no write. Else `after` itself.
 */
export function revertTimeChanges(before: KubeObject, after: KubeObject): KubeObject {
  const was = before.metadata?.managedFields;
  const is = after.metadata?.managedFields;
  if (!was || !is || was.length !== is.length || deepEqual(was, is)) return after;
  if (!was.every((entry) => is.some((other) => deepEqual(timeless(entry), timeless(other))))) return after;
  return deepEqual(comparable(before), comparable(after)) ? withManagedFields(after, was) : after;
}

function timeless(entry: ManagedFieldsEntry): ManagedFieldsEntry {
  const { time: _, ...rest } = entry;
  return rest;
}

function comparable(object: KubeObject): KubeObject {
  const { metadata, ...rest } = withoutManagedFields(object);
  const { resourceVersion: _, ...others } = metadata ?? {};
  return { ...rest, metadata: others };
}
