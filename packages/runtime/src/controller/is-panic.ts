import { AssertionError } from 'node:assert';

/**
 * Whether what was thrown shows a mistake in the code, as a Go program would panic of it: what the engine throws for a value
 * that is not there, not callable or out of range, a failed assertion, or something that is no Error at all.
 *
 * An error that wraps another (`cause`) was made on purpose: the `TypeError` with which `fetch` tells of a lost connection is
 * none.
 */
export function isPanic(error: unknown): boolean {
  if (!(error instanceof Error)) return true;
  if (error.cause !== undefined) return false;
  return [TypeError, ReferenceError, RangeError, AssertionError].some((type) => error instanceof type);
}
