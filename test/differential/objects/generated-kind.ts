import type { Choices } from '../choices.ts';

/** A JSON object. */
export type Fields = Record<string, unknown>;

/** A place in an object, dotted, list items by number, `\.` for a dot within a name; and what is put there, undefined for nothing. */
export type FieldChange = readonly [path: string, value: unknown];

/** A kind that both servers serve in the same version, and how its objects are made and spoilt. */
export interface GeneratedKind {
  kind: string;
  apiVersion: string;
  /** Plural, as in paths. */
  resource: string;
  namespaced: boolean;
  /** A valid object but for `apiVersion`, `kind` and `metadata`, in another form each time. */
  make(choices: Choices): Fields;
  /** What may be changed later; each a change that the server takes. */
  changes: readonly FieldChange[];
  /** By what is wrong: a change that makes a valid object invalid. Its place must be there in every object. */
  invalid: Readonly<Record<string, FieldChange>>;
  /** By field: a change that a create takes and an update does not. */
  immutable?: Readonly<Record<string, FieldChange>>;
  /** Of the status subresource, as a merge patch. */
  status?: Fields;
  /** It has the scale subresource. */
  scale?: true;
}

/** `/api/v1/namespaces/N/pods` and the like; without `namespace` that of all namespaces. */
export function pathOf({ apiVersion, resource, namespaced }: GeneratedKind, namespace?: string): string {
  const root = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  return namespaced && namespace !== undefined ? `${root}/namespaces/${namespace}/${resource}` : `${root}/${resource}`;
}

/** A whole object of the kind. */
export function makeObject({ apiVersion, kind, make }: GeneratedKind, choices: Choices, metadata: Fields): Fields {
  const labels = choices.labels();
  return {
    apiVersion,
    kind,
    metadata: { ...(Object.keys(labels).length > 0 ? { labels } : {}), ...metadata },
    ...make(choices),
  };
}

/** A copy of `object` with the changes made. */
export function changed(object: Fields, ...changes: readonly FieldChange[]): Fields {
  const copy = structuredClone(object);
  for (const [path, value] of changes)
    setAt(
      copy,
      path.split(/(?<!\\)\./).map((key) => key.replaceAll('\\.', '.')),
      value,
    );
  return copy;
}

function setAt(holder: Fields, path: readonly string[], value: unknown): void {
  const [key = '', ...rest] = path;
  if (rest.length > 0) {
    holder[key] ??= {};
    setAt(holder[key] as Fields, rest, value);
  } else if (value === undefined) {
    if (Array.isArray(holder)) holder.splice(Number(key), 1);
    else delete holder[key];
  } else {
    holder[key] = structuredClone(value);
  }
}
