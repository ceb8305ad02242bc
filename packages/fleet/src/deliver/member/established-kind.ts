import { type CustomResourceDefinition, isConditionTrue, type KubeObject } from '@asterism/machinery';
import type { ManifestStatus } from '../../api/index.ts';

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

/** Whether a definition was applied whose kind is not served yet. */
export function isToBeEstablished({ kind, applied, health }: ManifestStatus): boolean {
  return kind === 'CustomResourceDefinition' && applied && health !== 'Healthy';
}

function isDefinition(object: KubeObject): object is CustomResourceDefinition & KubeObject {
  return object.kind === 'CustomResourceDefinition' && object.apiVersion?.startsWith('apiextensions.k8s.io/') === true;
}

function isEstablished({ status }: CustomResourceDefinition): boolean {
  return isConditionTrue(status?.conditions, 'Established');
}
