import { isJsonObject } from '../json-object.ts';
import type { StructuralSchema } from './structural-schema.ts';

/**
 * The paths of fields that the schema does not know (`spec.template.foo`, `spec.containers[0].bar`), as strict field
 * validation names them: in the order of the object for a built-in kind, sorted for a custom resource.
 */
export function findUnknownFields(object: unknown, schema: StructuralSchema): string[] {
  return walk(object, schema, false);
}

/**
 * Removes the fields that the schema does not know from `object` itself, as a server does before it stores: call it on what
 * was just parsed.
 *
 * @returns the paths of what was removed, as {@link findUnknownFields}.
 */
export function pruneUnknown(object: unknown, schema: StructuralSchema): string[] {
  return walk(object, schema, true);
}

/** What a walk does with unknown fields. */
interface Findings {
  paths: string[];
  remove: boolean;
}

function walk(object: unknown, schema: StructuralSchema, remove: boolean): string[] {
  const findings: Findings = { paths: [], remove };
  visit(object, schema, '', schema.preserveUnknown, findings);
  return schema.builtin ? findings.paths : findings.paths.sort();
}

/** Without a schema no field is known. `keep` says that unknown ones stay. */
function visit(
  value: unknown,
  schema: StructuralSchema | undefined,
  path: string,
  keep: boolean,
  findings: Findings,
): void {
  if (Array.isArray(value)) visitList(value, schema, path, keep, findings);
  else if (isJsonObject(value)) visitObject(value, schema, path, keep, findings);
}

function visitList(
  list: readonly unknown[],
  schema: StructuralSchema | undefined,
  path: string,
  keep: boolean,
  findings: Findings,
): void {
  const items = schema?.items;
  if (!items && keep) return;
  for (let i = 0; i < list.length; i++) {
    const item = list[i];
    if (typeof item === 'object') {
      visit(item, items, `${path}[${i}]`, keep || items?.preserveUnknown === true, findings);
    }
  }
}

function visitObject(
  object: Record<string, unknown>,
  schema: StructuralSchema | undefined,
  path: string,
  keep: boolean,
  findings: Findings,
): void {
  for (const key of Object.keys(object)) {
    const child = path === '' ? key : `${path}.${key}`;
    const field = schema?.field(key);
    if (field || schema?.source.additionalProperties !== undefined) {
      if (typeof object[key] === 'object') visit(object[key], field, child, field?.preserveUnknown === true, findings);
    } else if (!keep) {
      findings.paths.push(child);
      if (findings.remove) delete object[key];
    }
  }
}
