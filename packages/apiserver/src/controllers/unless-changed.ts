import { isConflict, isNotFound } from '@asterism/machinery';

/** Writes an object as it was read. Where somebody changed or deleted it meanwhile, nothing: that event brings it back. */
export async function unlessChanged(write: () => Promise<unknown>): Promise<void> {
  try {
    await write();
  } catch (error) {
    if (!isConflict(error) && !isNotFound(error)) throw error;
  }
}
