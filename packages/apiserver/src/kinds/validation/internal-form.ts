import type { Fields } from '../fields/draft-fields.ts';
import { INTERNAL_TYPES } from './internal-types.ts';

/** Values of fields that are not set, by their kind; all others are null. */
const ZEROS: Readonly<Record<string, unknown>> = { s: '', n: 0, b: false, q: '0' };

/**
 * A pod's part as upstream prints it in messages: the Go struct it has within itself, as JSON.
 *
 * @param type a name of {@link INTERNAL_TYPES}
 */
export function internalForm(type: string, value: object): Fields {
  const form: Fields = {};
  fill(form, type, value as Fields);
  return form;
}

/** The same for a pod's spec, of which some is in the security context there. */
export function internalPodSpec(spec: object): Fields {
  const { hostNetwork, hostPID, hostIPC, shareProcessNamespace, hostUsers, securityContext, ...rest } = spec as Fields;
  const shared = { hostNetwork, hostPID, hostIPC, shareProcessNamespace, hostUsers };
  return internalForm('PodSpec', { ...rest, securityContext: { ...(securityContext as Fields), ...shared } });
}

export function internalPodTemplate({ metadata, spec }: { metadata?: object; spec?: object }): Fields {
  return { ...metadata, Spec: internalPodSpec(spec ?? {}) };
}

/** A field of a Go struct. */
interface InternalField {
  name: string;
  json: string;
  /** If it is not set. */
  zero: unknown;
  /** Of the field, or of its items: one of {@link INTERNAL_TYPES}. */
  type: string | undefined;
  holds: 'one' | 'one or none' | 'list';
}

/** Read once: a pod can have 20,000 items with 30 fields each. */
const FIELDS: ReadonlyMap<string, readonly InternalField[]> = new Map(
  Object.keys(INTERNAL_TYPES).map((type) => [type, fieldsOf(type)]),
);

function fieldsOf(type: string): InternalField[] {
  return (INTERNAL_TYPES[type] ?? '').split(/\s+/).flatMap((field) => {
    if (field.startsWith('...')) return fieldsOf(field.slice(3));
    const [names = '', kind = ''] = field.split(':');
    const [name = '', json = name.charAt(0).toLowerCase() + name.slice(1)] = names.split('=');
    const of = kind.replace(/^(\[\]|\*)/, '');
    const holds = kind.startsWith('[]') ? 'list' : kind.startsWith('*') ? 'one or none' : 'one';
    return [{ name, json, zero: ZEROS[kind] ?? null, type: of in INTERNAL_TYPES ? of : undefined, holds }];
  });
}

function fill(form: Fields, type: string, value: Fields): void {
  for (const field of FIELDS.get(type) ?? []) form[field.name] = formOf(field, value[field.json]);
}

function formOf({ type, zero, holds }: InternalField, value: unknown): unknown {
  if (type === undefined) return withSortedMaps(value) ?? zero;
  if (holds === 'list') return Array.isArray(value) ? value.map((item: object) => internalForm(type, item)) : null;
  if (value === undefined || value === null) return holds === 'one or none' ? null : internalForm(type, {});
  return internalForm(type, value);
}

/** Go writes maps in the order of their keys, and structs in that of their fields, which the others are. */
function withSortedMaps(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withSortedMaps);
  if (typeof value !== 'object' || value === null) return value;
  const members = value as Fields;
  const keys = Object.keys(members);
  const isMap = keys.every((key) => typeof members[key] !== 'object');
  if (isMap) keys.sort();
  return Object.fromEntries(keys.map((key) => [key, isMap ? members[key] : withSortedMaps(members[key])]));
}
