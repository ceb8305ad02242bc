import { forbidden, type KubeObject, NAMESPACES, notFound, StatusError } from '@asterism/machinery';
import type { ObjectStore } from '../storage/object-store.ts';
import type { SelectableFields } from '../storage/stored-object.ts';
import type { Write } from './write.ts';

/** Checked again right before a new object is stored: the deletion of its namespace or its kind may have begun meanwhile. */
export function requireCreatable(store: ObjectStore, write: Write): void {
  requireLivingNamespace(store, write);
  write.resource.strategy.requireCreatable?.(write.name);
}

/** Nothing is created in a namespace that does not exist (404) or is being deleted (403). */
export function requireLivingNamespace(store: ObjectStore, { resource: { type }, namespace, name }: Write): void {
  if (!type.namespaced || !namespace) return;
  const found = store.get('namespaces', undefined, namespace);
  if (!found) throw notFound(NAMESPACES, namespace);
  if (found.fields(deletionMark)['metadata.deletionTimestamp'] === '') return;
  const why = `unable to create new content in namespace ${namespace} because it is being terminated`;
  const { status } = forbidden(type, name, why);
  const cause = {
    reason: 'NamespaceTerminating',
    message: `namespace ${namespace} is being terminated`,
    field: 'metadata.namespace',
  };
  throw new StatusError({ ...status, details: { ...status.details, causes: [cause] } });
}

/** Read at each create in a namespace, and so not parsed each time. */
function deletionMark({ metadata }: KubeObject): SelectableFields {
  return { 'metadata.deletionTimestamp': metadata?.deletionTimestamp ?? '' };
}
