import type { KubeObject, OwnerReference } from '@asterism/machinery';

/** The index of things by the uid of the object that controls them. */
export const BY_CONTROLLER = 'controller';

export function controllerOf(object: KubeObject): OwnerReference | undefined {
  return object.metadata?.ownerReferences?.find(({ controller }) => controller === true);
}

export function indexByController(object: KubeObject): string[] {
  return [controllerOf(object)?.uid ?? orphansOf(object.metadata?.namespace ?? '')];
}

/** Under which {@link BY_CONTROLLER} keeps those of a namespace that nobody controls. */
export const orphansOf = (namespace: string): string => `orphans of ${namespace}`;

/** The reference by which `owner` controls what it makes. */
export function controllerReference(owner: KubeObject): OwnerReference {
  return {
    apiVersion: owner.apiVersion ?? '',
    kind: owner.kind ?? '',
    name: owner.metadata?.name ?? '',
    uid: owner.metadata?.uid ?? '',
    controller: true,
    blockOwnerDeletion: true,
  };
}
