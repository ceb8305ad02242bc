import assert from 'node:assert/strict';
import type { KubeObject, ManagedFieldsEntry } from '../../object.ts';
import { schemaOfKind } from '../../schema/builtin-schemas.ts';
import { StatusError } from '../../status.ts';
import { type ApplyOptions, applyObject } from '../apply-object.ts';

export const CONFIG_MAP = schemaOfKind({ group: '', version: 'v1', kind: 'ConfigMap' })!;
export const DEPLOYMENT = schemaOfKind({ group: 'apps', version: 'v1', kind: 'Deployment' })!;
export const FIRST = '2026-01-01T00:00:00Z';
export const LATER = '2026-01-01T00:10:00Z';

/** Without `data` where there are none, as a server has it. */
export function configMap(data: Record<string, string>, managedFields?: ManagedFieldsEntry[]): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'c', ...(managedFields ? { managedFields } : {}) },
    ...(Object.keys(data).length > 0 ? { data } : {}),
  } as KubeObject;
}

export function apply(options: Partial<ApplyOptions> & Pick<ApplyOptions, 'applied'>) {
  return applyObject({ live: undefined, manager: 'me', time: FIRST, schema: CONFIG_MAP, ...options });
}

/** The object that comes of an apply without conflicts. */
export function applied(
  options: Partial<ApplyOptions> & Pick<ApplyOptions, 'applied'>,
): KubeObject & { data?: unknown } {
  const outcome = apply(options);
  assert.ok(outcome.outcome === 'applied', 'a conflict');
  return outcome.object;
}

export function conflictOf(options: Partial<ApplyOptions> & Pick<ApplyOptions, 'applied'>): StatusError {
  const outcome = apply(options);
  assert.ok(outcome.outcome === 'conflict', 'no conflict');
  return outcome.error;
}

export function entry(manager: string, fieldsV1: object, more: Partial<ManagedFieldsEntry> = {}): ManagedFieldsEntry {
  return {
    manager,
    operation: 'Apply',
    apiVersion: 'v1',
    time: FIRST,
    fieldsType: 'FieldsV1',
    fieldsV1,
    ...more,
  } as ManagedFieldsEntry;
}
