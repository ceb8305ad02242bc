import { deepEqual, type FieldsV1, isJsonObject, type KubeObject, parseJson } from '@asterism/machinery';
import type { ApplyConfiguration } from './apply-configuration.ts';

/**
 * Whose part of an object is meant.
 *
 * @example {@link extractApplied}
 */
export interface ExtractOptions {
  fieldManager: string;
  /** `status` for what was applied there. Default: the object itself. */
  subresource?: string | undefined;
}

/**
 * What that manager last applied, to be changed a little and applied again: a configuration without the rest would give up the
 * rest. Where it has applied nothing, it is the name alone. It needs `managedFields`, which caches do not keep: `get` the object.
 *
 * @throws TypeError for an object without `managedFields`.
 * @example
 * ```ts
 * const map = await client.resource(CONFIG_MAPS).get({ namespace: 'shop', name: 'web' });
 * const mine = extractApplied(map, { fieldManager: 'settings.example.dev' });
 * await apply(client, CONFIG_MAPS, { ...mine, data: { ...mine.data, colour: 'red' } });
 * ```
 */
export function extractApplied<T extends KubeObject>(object: T, options: ExtractOptions): ApplyConfiguration<T> {
  const { fieldManager, subresource = '' } = options;
  const { apiVersion, kind, metadata: { namespace, name, managedFields } = {} } = object;
  if (!managedFields)
    throw new TypeError(`${kind ?? 'object'} "${name}" came without managedFields: get it from the server`);
  const entry = managedFields.find(
    ({ manager, operation, subresource: of = '' }) =>
      manager === fieldManager && operation === 'Apply' && of === subresource,
  );
  const { metadata, ...fields } = (entry?.fieldsV1 ? extract(object, entry.fieldsV1) : {}) as KubeObject;
  const head = { ...(namespace ? { namespace } : {}), name };
  return { apiVersion, kind, ...fields, metadata: { ...metadata, ...head } } as unknown as ApplyConfiguration<T>;
}

/** The part of a value that the set of fields names; `.` is the value itself without what is in it. */
function extract(value: unknown, fields: FieldsV1): unknown {
  const children = Object.entries(fields).filter(([element]) => element !== '.');
  if (children.length === 0 && !('.' in fields)) return value;
  if (Array.isArray(value)) return value.flatMap((item, index) => extractItem(item, index, children));
  if (!isJsonObject(value)) return value;
  const members = children
    .map(([element, inner]) => [element.slice('f:'.length), inner] as const)
    .filter(([name]) => Object.hasOwn(value, name))
    .map(([name, inner]) => [name, extract(value[name], inner)] as const);
  return Object.fromEntries(members);
}

/** An item that is named by its keys (`k:`), its value (`v:`) or its place (`i:`), or nothing. */
function extractItem(item: unknown, index: number, children: readonly [string, FieldsV1][]): unknown[] {
  for (const [element, inner] of children) {
    const said = parseJson(element.slice('k:'.length));
    if (element.startsWith('v:') && deepEqual(said, item)) return [item];
    if (element.startsWith('i:') && said === index) return [extract(item, inner)];
    if (!element.startsWith('k:') || !isJsonObject(said) || !isJsonObject(item)) continue;
    const matches = Object.entries(said).every(([key, keyValue]) => deepEqual(item[key], keyValue));
    if (matches) return [{ ...said, ...(extract(item, inner) as object) }];
  }
  return [];
}
