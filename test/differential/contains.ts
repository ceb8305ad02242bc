import { isJsonObject } from '@asterism/machinery';

/** Whether `actual` has all that `wanted` names: of objects the fields, of lists the first items, anything else equal. */
export function contains(actual: unknown, wanted: unknown): boolean {
  if (wanted === undefined) return true;
  if (Array.isArray(wanted)) {
    return Array.isArray(actual) && wanted.every((item, index) => contains(actual[index], item));
  }
  if (isJsonObject(wanted)) {
    return isJsonObject(actual) && Object.entries(wanted).every(([key, value]) => contains(actual[key], value));
  }
  return actual === wanted;
}
