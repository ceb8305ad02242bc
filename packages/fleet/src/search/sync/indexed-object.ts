import { formatApiVersion, type KubeObject, type ObjectMeta, parseJson, type ResourceType } from '@asterism/machinery';
import type { ObjectRow } from '@asterism/store';
import { SEARCH_CLUSTER_ANNOTATION } from '../cluster-annotation.ts';
import { memberOf } from './json-slices.ts';

/** An object as a member sent it: decoded as far as its columns need, and the bytes it came in. */
export interface IndexedObject extends KubeObject {
  metadata: ObjectMeta;
  bytes: Uint8Array;
}

/** What a store keeps of an object of `cluster`. */
export function rowOf(object: IndexedObject, type: ResourceType, cluster: string): ObjectRow {
  const { namespace = '', name = '', uid = '', resourceVersion = '', creationTimestamp, labels } = object.metadata;
  return {
    namespace,
    name,
    kind: object.kind ?? type.kind,
    uid,
    resourceVersion,
    ownerUid: object.metadata.ownerReferences?.find(({ controller }) => controller)?.uid,
    createdAt: Date.parse(creationTimestamp ?? '') || 0,
    labels,
    object: completeBytes(object, type, cluster),
  };
}

/**
 * The bytes of the object with what search adds to them: `apiVersion` and `kind`, which items of a list lack, and the annotation
 * that names its cluster. They are spliced in; nothing is encoded again, but for an object that bears the annotation already and
 * names another cluster (or whose annotations are `null`).
 */
function completeBytes(object: IndexedObject, type: ResourceType, cluster: string): Uint8Array {
  const { bytes, metadata } = object;
  const claimed = metadata.annotations?.[SEARCH_CLUSTER_ANNOTATION];
  const nothing = (metadata.annotations as unknown) === null;
  if (nothing || (claimed !== undefined && claimed !== cluster)) return encodeTruth(bytes, type, cluster);
  const parts: Uint8Array[] = [];
  let from = 0;
  const insert = (at: number, text: string): void => {
    parts.push(bytes.subarray(from, at), Buffer.from(text));
    from = at;
  };
  if (object.apiVersion === undefined) insert(1, `"apiVersion":${JSON.stringify(formatApiVersion(type))},`);
  if (object.kind === undefined) insert(1, `"kind":${JSON.stringify(type.kind)},`);
  if (claimed === undefined) insertAnnotation(object, JSON.stringify(cluster), insert);
  return Buffer.concat([...parts, bytes.subarray(from)]);
}

function insertAnnotation(
  { bytes, metadata }: IndexedObject,
  value: string,
  insert: (at: number, text: string) => void,
): void {
  const found = memberOf(bytes, 0, 'metadata');
  if (!found) return;
  const member = `${JSON.stringify(SEARCH_CLUSTER_ANNOTATION)}:${value}`;
  const annotations = metadata.annotations ? memberOf(bytes, found.start, 'annotations') : undefined;
  if (!annotations) insert(found.start + 1, `"annotations":{${member}},`);
  else insert(annotations.start + 1, Object.keys(metadata.annotations ?? {}).length === 0 ? member : `${member},`);
}

function encodeTruth(bytes: Uint8Array, type: ResourceType, cluster: string): Uint8Array {
  const object = parseJson(Buffer.from(bytes).toString()) as KubeObject;
  const annotations = { ...object.metadata?.annotations, [SEARCH_CLUSTER_ANNOTATION]: cluster };
  const named = { apiVersion: formatApiVersion(type), kind: type.kind, ...object };
  return Buffer.from(JSON.stringify({ ...named, metadata: { ...object.metadata, annotations } }));
}
