import type { KubeObject, ManagedFieldsEntry } from '../object.ts';
import { type FieldOwner, type FieldOwners, ownerId, readManagedFields, writeManagedFields } from './field-owners.ts';
import { hasPath, isEmptySet, setOfPath, subtractSets } from './field-set.ts';
import { fieldElement } from './path-element.ts';

const SCALE_VERSION = 'autoscaling/v1';
const SCALE_REPLICAS = ['spec', 'replicas'];

/** Where an object has its replicas in a version: `['spec', 'replicas']`; undefined for a version that cannot be scaled. */
export type ReplicasPaths = (apiVersion: string) => readonly string[] | undefined;

/**
 * The managedFields that the `Scale` of an object has for the time of a write: who owns the object's replicas owns those of
 * the Scale. Answers do not show them.
 */
export function managedFieldsOfScale(object: KubeObject, paths: ReplicasPaths): ManagedFieldsEntry[] | undefined {
  const owners: FieldOwners = new Map();
  for (const owner of readManagedFields(object.metadata?.managedFields)?.values() ?? []) {
    if (!ownsReplicas(owner, paths)) continue;
    const scaler = { ...owner, apiVersion: SCALE_VERSION, fields: pathSet(SCALE_REPLICAS) };
    owners.set(ownerId(scaler), scaler);
  }
  return writeManagedFields(owners);
}

/**
 * The managedFields of an object after a write of its `Scale`, which left the Scale with `scaleEntries`: whoever has lost the
 * replicas there loses them here, whoever is new there comes to own them under the subresource `scale`.
 */
export function managedFieldsAfterScale(
  object: KubeObject,
  scaleEntries: readonly ManagedFieldsEntry[] | undefined,
  paths: ReplicasPaths,
): ManagedFieldsEntry[] | undefined {
  const apiVersion = object.apiVersion ?? '';
  const replicas = paths(apiVersion);
  const scalers = new Map([...(readManagedFields(scaleEntries) ?? [])].map(([, owner]) => [scalerId(owner), owner]));
  const owners: FieldOwners = new Map();
  for (const [id, owner] of readManagedFields(object.metadata?.managedFields) ?? []) {
    const keeps = !ownsReplicas(owner, paths) || scalers.delete(scalerId(owner));
    const path = paths(owner.apiVersion);
    const fields = keeps || !path ? owner.fields : subtractSets(owner.fields, pathSet(path));
    if (!isEmptySet(fields)) owners.set(id, { ...owner, fields });
  }
  for (const scaler of replicas ? scalers.values() : []) {
    // Upstream gives these entries no time.
    const owner = { ...scaler, apiVersion, time: undefined, fields: pathSet(replicas!) };
    owners.set(ownerId(owner), owner);
  }
  return writeManagedFields(owners);
}

function ownsReplicas({ apiVersion, fields }: FieldOwner, paths: ReplicasPaths): boolean {
  const path = paths(apiVersion);
  return path !== undefined && hasPath(fields, path.map(fieldElement));
}

function pathSet(path: readonly string[]): FieldOwner['fields'] {
  return setOfPath(path.map(fieldElement));
}

/** An owner as it is recognised in the Scale, whose version is another. */
function scalerId(owner: FieldOwner): string {
  return ownerId({ ...owner, apiVersion: SCALE_VERSION });
}
