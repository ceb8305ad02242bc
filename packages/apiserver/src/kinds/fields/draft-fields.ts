/** A JSON object within a draft. */
export type Fields = Record<string, unknown>;

/** The object at `key`; a new one, put there, where there is none. */
export function fieldsAt(parent: Fields, key: string): Fields {
  const value = parent[key];
  if (typeof value === 'object' && value !== null) return value as Fields;
  const made: Fields = {};
  parent[key] = made;
  return made;
}

/** The object at `key`, if there is one. */
export function optionalFields(parent: Fields | undefined, key: string): Fields | undefined {
  const value = parent?.[key];
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : undefined;
}

/** The objects of the list at `key`; none where there is no list. */
export function listAt(parent: Fields | undefined, key: string): Fields[] {
  const value = parent?.[key];
  return Array.isArray(value) ? value.filter((item): item is Fields => typeof item === 'object' && item !== null) : [];
}

/** Sets what is not there, or null. */
export function setDefaults(target: Fields, defaults: Fields): void {
  for (const [key, value] of Object.entries(defaults)) target[key] ??= value;
}

/** Sets what is not there, or empty: for texts that Go does not tell apart. */
export function setDefaultText(target: Fields, key: string, value: string): void {
  if (!target[key]) target[key] = value;
}

export function textAt(parent: Fields | undefined, key: string): string {
  const value = parent?.[key];
  return typeof value === 'string' ? value : '';
}

export function numberAt(parent: Fields | undefined, key: string): number | undefined {
  const value = parent?.[key];
  return typeof value === 'number' ? value : undefined;
}

/** The texts of the list at `key`; none where there is no list. */
export function textsAt(parent: Fields | undefined, key: string): string[] {
  const value = parent?.[key];
  return Array.isArray(value) ? value.filter((item): item is string => typeof item === 'string') : [];
}
