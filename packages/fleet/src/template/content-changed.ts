import { deepEqual, type KubeObject } from '@asterism/machinery';

/**
 * Whether more than the status of an object has changed. Status comes from here, and would bring every template back for each
 * change of it. A kind without generations may have changed anywhere.
 */
export function contentChanged({ metadata: before = {} }: KubeObject, { metadata: after = {} }: KubeObject): boolean {
  return (
    after.generation === undefined ||
    before.generation !== after.generation ||
    before.uid !== after.uid ||
    before.deletionTimestamp !== after.deletionTimestamp ||
    !deepEqual(before.labels, after.labels) ||
    !deepEqual(before.annotations, after.annotations)
  );
}
