import type { KubeObject } from '@asterism/machinery';
import { encodeObject, StoredObject } from '../storage/stored-object.ts';

/** What a dry run, or a deletion, shows: nothing of it was stored. */
export function unsaved(object: KubeObject, revision: number): StoredObject {
  return new StoredObject(encodeObject(object, revision), revision);
}
