import type { KubeObject, ManagedFieldsEntry } from '../object.ts';

/** The object without its managedFields; the same one where it has none. */
export function withoutManagedFields(object: KubeObject): KubeObject {
  if (object.metadata?.managedFields === undefined) return object;
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}

/** A copy of the object with these managedFields. */
export function withManagedFields(object: KubeObject, entries: ManagedFieldsEntry[] | undefined): KubeObject {
  if (!entries) return withoutManagedFields(object);
  return { ...object, metadata: { ...object.metadata, managedFields: entries } };
}
