import { failure, type KubeObject } from '@asterism/machinery';

/**
 * The most values (texts, numbers, lists, objects) of an object. One of Kubernetes' largest size (1.5 MiB in etcd) has fewer. Each
 * value takes some microseconds of the one thread that serves every caller.
 */
export const MAX_VALUES = 50_000;
/** A custom resource definition of 1 MiB, applied by two managers, has fewer. */
const MAX_APPLIED = 80_000;
/** An object that is sent back has the owners of its fields with it, each of which is an object in a list of objects. */
const MAX_WITH_OWNERS = 4 * MAX_VALUES;

/** Throws 413 for a text with so many values that it is not even read. */
export function requireReadable(values: number): void {
  if (values > MAX_WITH_OWNERS) throw tooManyValues();
}

/**
 * Throws 413 for an object with more than {@link MAX_VALUES}, its managedFields apart. `values`: there are not more than these; they are
 * counted where that may be too many.
 */
export function requireFewValues(object: unknown, values = Number.POSITIVE_INFINITY): void {
  if (values <= MAX_VALUES) return;
  const { metadata, ...rest } = object as KubeObject;
  const { managedFields, ...own } = metadata ?? {};
  if (countValues([rest, own]) > MAX_VALUES || countValues(managedFields) > MAX_WITH_OWNERS) throw tooManyValues();
}

/**
 * Throws 413 for an apply to which so much is compared that others would wait: `applied` with what is there, the fields of all
 * managers among it. `values`: both together have not more than these.
 */
export function requireFewApplied(live: unknown, applied: unknown, values: number): void {
  if (values <= MAX_APPLIED || countValues(live) + countValues(applied) <= MAX_APPLIED) return;
  const what = `an apply compares at most ${MAX_APPLIED} values, of the object, of its managedFields and of the patch`;
  throw failure(413, `Request entity too large: ${what}`);
}

function tooManyValues(): Error {
  return failure(413, `Request entity too large: the limit of an object is ${MAX_VALUES} values`);
}

/** How many values a JSON text of so many bytes can have: each takes a byte, and another parts it from the next. */
export function mostValues(bytes: number): number {
  return Math.ceil((bytes + 1) / 2);
}

/** Counts no further than to one beyond `most`. */
export function countValues(value: unknown, most = Number.POSITIVE_INFINITY): number {
  return 1 + (isContainer(value) ? countMembers(value, most) : 0);
}

/** A text or a number is counted without a call of its own: there are thousands in an object, and each write counts them. */
function countMembers(container: Record<string, unknown> | readonly unknown[], most: number): number {
  let count = 0;
  for (const member of Array.isArray(container) ? (container as unknown[]) : Object.values(container)) {
    count++;
    if (count > most) break;
    if (isContainer(member)) count += countMembers(member, most - count);
  }
  return count;
}

function isContainer(value: unknown): value is Record<string, unknown> | readonly unknown[] {
  return typeof value === 'object' && value !== null;
}
