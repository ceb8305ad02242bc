const DEFINITIONS = '#/definitions/';

/** The names of definitions to which anything within `value` refers. */
export function referencesIn(value: unknown): Set<string> {
  const found = new Set<string>();
  const waiting = [value];
  while (waiting.length > 0) {
    const each = waiting.pop();
    if (typeof each !== 'object' || each === null) continue;
    const { $ref } = each as { $ref?: unknown };
    if (typeof $ref === 'string' && $ref.startsWith(DEFINITIONS)) found.add($ref.slice(DEFINITIONS.length));
    waiting.push(...Object.values(each));
  }
  return found;
}

/** The same with every reference to a definition put as `map` says; `to` is what the new reference begins with. */
export function mapReferences(value: unknown, map: (name: string) => string, to: string = DEFINITIONS): unknown {
  if (Array.isArray(value)) return value.map((each) => mapReferences(each, map, to));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [
      key,
      key === '$ref' && typeof each === 'string' && each.startsWith(DEFINITIONS)
        ? `${to}${map(each.slice(DEFINITIONS.length))}`
        : mapReferences(each, map, to),
    ]),
  );
}
