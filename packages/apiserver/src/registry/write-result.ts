import type { StoredObject } from '../storage/stored-object.ts';

/** An object as it is now, and whether this write made it. */
export interface WriteResult {
  stored: StoredObject;
  created: boolean;
}
