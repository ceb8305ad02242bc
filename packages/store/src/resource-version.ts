const DECIMAL = /^(0|[1-9][0-9]*)$/;

/**
 * True when the first resourceVersion is known to be older than the second: decimal digits without leading zeros are compared by
 * length and then by bytes, as apimachinery's `util/resourceversion` does. What is not of this form is older than nothing.
 */
export function isOlder(resourceVersion: string, than: string): boolean {
  if (!DECIMAL.test(resourceVersion) || !DECIMAL.test(than)) return false;
  if (resourceVersion.length !== than.length) return resourceVersion.length < than.length;
  return resourceVersion < than;
}
