import { failure } from '@asterism/machinery';

/**
 * The most values (texts, numbers, lists, objects) that a body may have. An object of Kubernetes' largest size (1.5 MiB in etcd) has
 * fewer. Each value takes some microseconds of the one thread that serves every caller.
 */
export const MAX_VALUES = 65_536;

/** Throws 413 for more than {@link MAX_VALUES}. */
export function requireFewValues(values: number): void {
  if (values <= MAX_VALUES) return;
  throw failure(413, `Request entity too large: limit is ${MAX_VALUES} values, got ${values}`);
}

/** How many values there are in a value, itself included. */
export function countValues(value: unknown): number {
  let count = 1;
  if (Array.isArray(value)) for (const item of value as unknown[]) count += countValues(item);
  else if (typeof value === 'object' && value !== null) {
    for (const key in value) count += countValues((value as Record<string, unknown>)[key]);
  }
  return count;
}
