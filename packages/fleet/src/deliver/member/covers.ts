import { compareQuantities, isJsonObject, isQuantity, ownMember, parseQuantity } from '@asterism/machinery';

/** Maps whose values are quantities: `1000m` there is stored as `1`. */
const QUANTITY_MAPS: ReadonlySet<string> = new Set(['requests', 'limits', 'overhead', 'capacity', 'hard']);

/**
 * Whether a live object says everything that a manifest says; what it says beyond that is others' business. So nothing has to
 * be applied, if the manifest has not lost a field since it was.
 *
 * It may say no where applying would change nothing (a text that the server writes otherwise), never yes where it would.
 */
export function covers(live: unknown, wanted: unknown, field = ''): boolean {
  if (live === wanted) return true;
  // Servers leave out what is empty anyway.
  if (live === undefined || live === null) return isEmpty(wanted);
  if (Array.isArray(wanted)) return Array.isArray(live) && coversList(live, wanted);
  if (!isJsonObject(wanted)) return false;
  if (!isJsonObject(live)) return false;
  const quantities = QUANTITY_MAPS.has(field);
  return Object.keys(wanted).every((key) => {
    const [is, value] = [ownMember(live, key), wanted[key]];
    return covers(is, value, key) || (quantities && sameQuantity(is, value));
  });
}

/** Lists of named things are merged by name, and others may add to them; any other list is as it is. */
function coversList(live: readonly unknown[], wanted: readonly unknown[]): boolean {
  const named = wanted.length > 0 && wanted.every((item) => isJsonObject(item) && typeof item['name'] === 'string');
  if (!named) return live.length === wanted.length && wanted.every((item, index) => covers(live[index], item));
  const byName = new Map(live.filter(isJsonObject).map((item) => [item['name'], item]));
  return wanted.every((item) => isJsonObject(item) && covers(byName.get(item['name']), item));
}

function isEmpty(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0;
  return isJsonObject(value) ? Object.keys(value).length === 0 : !value;
}

function sameQuantity(a: unknown, b: unknown): boolean {
  return isQuantity(a) && isQuantity(b) && compareQuantities(parseQuantity(a), parseQuantity(b)) === 0;
}
