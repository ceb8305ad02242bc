/** JSON as expressions see it: whole numbers are `int`, objects are maps, so that no key of theirs means anything to JavaScript. */
export function celValue(value: unknown): unknown {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : value;
  if (Array.isArray(value)) return value.map(celValue);
  if (typeof value === 'object' && value !== null) return celMap(value);
  return value ?? null;
}

/** The members of an object that are not undefined. */
export function celMap(object: object): Map<string, unknown> {
  const map = new Map<string, unknown>();
  for (const [key, member] of Object.entries(object)) if (member !== undefined) map.set(key, celValue(member));
  return map;
}
