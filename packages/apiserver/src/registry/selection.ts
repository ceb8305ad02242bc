import {
  badRequest,
  type FieldRequirement,
  type LabelRequirement,
  matchesFields,
  matchesLabels,
  parseFieldSelector,
  parseLabelSelector,
} from '@asterism/machinery';
import type { StoredObject } from '../storage/stored-object.ts';
import type { ServedVersion } from './served-version.ts';

/** Which objects of a resource a list or watch is about, compiled from the texts of a request. */
export interface CompiledSelection {
  /** What the keys of all candidates begin with: `namespace/`, or ''. */
  prefix: string;
  /** The one namespace, or ''. */
  namespace: string;
  /** Where one object at most can match: its key. */
  key: string | undefined;
  /** Whether there is a label or field selector at all. */
  selective: boolean;
  matches(object: StoredObject): boolean;
}

const METADATA_PATHS = ['metadata.name', 'metadata.namespace'];

/** Rejects with 400, in Kubernetes' words, for a selector that cannot be read or a field that cannot be selected on. */
export function compileSelection(
  resource: ServedVersion,
  selection: { namespace?: string | undefined; labelSelector?: string | undefined; fieldSelector?: string | undefined },
): CompiledSelection {
  const labels = selection.labelSelector ? parseLabelSelector(selection.labelSelector) : [];
  const fields = selection.fieldSelector ? parseFieldSelector(selection.fieldSelector) : [];
  for (const { path } of fields) requireSelectable(resource, path);
  const name = exactly(fields, 'metadata.name');
  const namespace =
    selection.namespace ?? (resource.type.namespaced ? exactly(fields, 'metadata.namespace') : undefined) ?? '';
  const prefix = namespace === '' ? '' : `${namespace}/`;
  const unique = name !== undefined && (!resource.type.namespaced || prefix !== '');
  return {
    prefix,
    namespace,
    key: unique ? `${prefix}${name}` : undefined,
    selective: labels.length > 0 || fields.length > 0,
    matches: matcher(resource, labels, fields),
  };
}

function matcher(
  resource: ServedVersion,
  labels: readonly LabelRequirement[],
  fields: readonly FieldRequirement[],
): (object: StoredObject) => boolean {
  if (labels.length === 0 && fields.length === 0) return () => true;
  return (object) => {
    if (labels.length > 0 && !matchesLabels(labels, object.labels)) return false;
    if (fields.length === 0) return true;
    const values = object.fields(resource.selectFields);
    return matchesFields(fields, (path) => values[path]);
  };
}

function requireSelectable(resource: ServedVersion, path: string): void {
  // Of cluster-scoped kinds only built-in ones without fields of their own take a namespace here, as upstream.
  const hasNamespace =
    resource.type.namespaced || (resource.storage === 'builtin' && resource.selectablePaths.length === 0);
  if (METADATA_PATHS.includes(path) && (path === 'metadata.name' || hasNamespace)) return;
  if (resource.selectablePaths.includes(path)) return;
  const message = resource.strategy.unknownFieldMessage?.(path);
  if (message !== undefined) throw badRequest(message);
  if (resource.selectablePaths.length > 0 && resource.storage === 'builtin') {
    throw badRequest(`field label not supported: ${path}`);
  }
  const known = [...METADATA_PATHS, ...resource.selectablePaths].map((each) => `"${each}"`).join(', ');
  throw badRequest(`"${path}" is not a known field selector: only ${known}`);
}

function exactly(fields: readonly FieldRequirement[], path: string): string | undefined {
  return fields.find((field) => field.path === path && field.operator === '=' && field.value !== '')?.value;
}
