import { isJsonObject } from '../json-object.ts';
import type { KubeObject } from '../object.ts';
import { parseJson } from '../parse-json.ts';
import { formatGoJson } from '../schema/go-format.ts';
import type { StructuralSchema } from '../schema/structural-schema.ts';
import type { FieldConflict } from './apply-conflict.ts';
import { checkApplied } from './check-applied.ts';
import { compareObjects } from './compare-objects.ts';
import { isEmptySet, subtractSets } from './field-set.ts';
import { fieldSetOf } from './to-field-set.ts';

const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

/** The manager whose server-side applies take over from `kubectl apply`'s client-side ones. */
export function upgradesClientSideApply(manager: string): boolean {
  return manager === 'kubectl';
}

export interface AllowedFields {
  /** The conflicts that are left, each with the fields that are a conflict still. */
  withoutAllowed(conflicts: readonly FieldConflict[]): FieldConflict[];
}

/**
 * The fields that the object has as client-side apply left them: these kubectl may take over without a conflict. Undefined
 * where the annotation is absent or cannot be used.
 */
export function allowedByLastApplied(
  live: KubeObject,
  apiVersion: string,
  schema: StructuralSchema,
): AllowedFields | undefined {
  const annotation = live.metadata?.annotations?.[LAST_APPLIED];
  const lastApplied = annotation ? parseObject(annotation) : undefined;
  if (!lastApplied || lastApplied.apiVersion !== apiVersion || checkApplied(lastApplied, schema)) return undefined;
  const { added, modified, removed } = compareObjects(lastApplied, live, schema);
  const unchanged = [modified, added, removed].reduce(subtractSets, fieldSetOf(lastApplied, schema));
  return {
    withoutAllowed: (conflicts) =>
      conflicts
        .map((conflict) => ({ ...conflict, fields: subtractSets(conflict.fields, unchanged) }))
        .filter(({ fields }) => !isEmptySet(fields)),
  };
}

/** Keeps the annotation of client-side apply, where there is one, at what was applied. */
export function updateLastApplied(object: KubeObject, applied: KubeObject): KubeObject {
  const { metadata } = object;
  if (!metadata?.annotations?.[LAST_APPLIED]) return object;
  const config = withoutLastApplied(applied);
  const text = `${formatGoJson(config)}\n`;
  if (metadata.annotations[LAST_APPLIED] === text) return object;
  return { ...object, metadata: { ...metadata, annotations: { ...metadata.annotations, [LAST_APPLIED]: text } } };
}

function withoutLastApplied(applied: KubeObject): KubeObject {
  if (!applied.metadata?.annotations) return applied;
  const { [LAST_APPLIED]: _, ...annotations } = applied.metadata.annotations;
  return { ...applied, metadata: { ...applied.metadata, annotations } };
}

function parseObject(text: string): KubeObject | undefined {
  try {
    const value: unknown = parseJson(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
