import { setMember } from '@asterism/machinery';

/** A deep copy of a JSON value; several times faster than `structuredClone`, which is made for much more. */
export function cloneJson<T>(value: T): T {
  return copy(value) as T;
}

function copy(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(copy);
  const result: Record<string, unknown> = {};
  for (const key of Object.keys(value)) setMember(result, key, copy((value as Record<string, unknown>)[key]));
  return result;
}
