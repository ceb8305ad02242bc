const DECIMAL = /^(0|[1-9][0-9]*)$/;

/**
 * Orders two resourceVersions of one resource in one cluster, as apimachinery's `util/resourceversion` does: decimal digits
 * without leading zeros, by length and then by bytes. They may be longer than a number holds.
 *
 * @returns below 0, 0 or above 0; undefined when one of them cannot be compared.
 */
export function compareResourceVersions(a: string, b: string): number | undefined {
  if (!DECIMAL.test(a) || !DECIMAL.test(b)) return undefined;
  if (a.length !== b.length) return a.length - b.length;
  return a < b ? -1 : a > b ? 1 : 0;
}
