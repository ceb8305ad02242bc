/** JSON in which equal values are equal texts: keys sorted at every depth. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, child: unknown) =>
    typeof child === 'object' && child !== null && !Array.isArray(child)
      ? Object.fromEntries(Object.entries(child).sort(([a], [b]) => (a < b ? -1 : 1)))
      : child,
  );
}
