import { type CustomResourceDefinition, isConditionTrue, type KubeObject } from '@asterism/machinery';

export interface EstablishedKind {
  group: string;
  kind: string;
}

/** The kind that an API server begins to serve by this change of an object; undefined where that is no such news. */
export function establishedKind(before: KubeObject | undefined, after: KubeObject): EstablishedKind | undefined {
  if (!isDefinition(after) || !isEstablished(after)) return undefined;
  if (before && isDefinition(before) && isEstablished(before)) return undefined;
  const { group, names } = after.spec;
  return { group, kind: names.kind };
}

function isDefinition(object: KubeObject): object is CustomResourceDefinition & KubeObject {
  return object.kind === 'CustomResourceDefinition' && object.apiVersion?.startsWith('apiextensions.k8s.io/') === true;
}

function isEstablished({ status }: CustomResourceDefinition): boolean {
  return isConditionTrue(status?.conditions, 'Established');
}
