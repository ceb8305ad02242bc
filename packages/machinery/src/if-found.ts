import { isNotFound } from './error-reasons.ts';

/** What `getting` resolves with; undefined where it rejects because that is not there ({@link isNotFound}). */
export async function ifFound<T>(getting: Promise<T>): Promise<T | undefined> {
  try {
    return await getting;
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}
