import type { OwnerReference, PersistentVolumeClaim, Pod, StatefulSet } from '@asterism/machinery';

/** The claims that a pod of a StatefulSet mounts, one for each template; made before the pod, and kept when it goes. */
export function claimsOf(set: StatefulSet, ordinal: number): PersistentVolumeClaim[] {
  return (set.spec?.volumeClaimTemplates ?? []).map((template) => ({
    ...template,
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: {
      ...template.metadata,
      name: claimName(set, template, ordinal),
      namespace: set.metadata?.namespace ?? '',
      labels: { ...template.metadata?.labels, ...set.spec?.selector?.matchLabels },
    },
  }));
}

function claimName(set: StatefulSet, template: PersistentVolumeClaim, ordinal: number): string {
  return `${template.metadata?.name}-${set.metadata?.name}-${ordinal}`;
}

/** The pod's volumes, those of the claim templates in the place of any of the same name. */
export function volumesOf(set: StatefulSet, ordinal: number, volumes: NonNullable<Pod['spec']>['volumes'] = []) {
  const claimed = (set.spec?.volumeClaimTemplates ?? []).map((template) => ({
    name: template.metadata?.name ?? '',
    persistentVolumeClaim: { claimName: claimName(set, template, ordinal) },
  }));
  const names = new Set(claimed.map(({ name }) => name));
  return [...claimed, ...volumes.filter(({ name }) => !names.has(name))];
}

/**
 * Who a claim goes with, by `persistentVolumeClaimRetentionPolicy`: with the set where `whenDeleted` is Delete, with its pod
 * where `whenScaled` is Delete and the pod is one too many. Owners from elsewhere stay.
 */
export function claimOwners(
  set: StatefulSet,
  claim: PersistentVolumeClaim,
  pod: Pod | undefined,
  isCondemned: boolean,
): OwnerReference[] {
  const { whenDeleted = 'Retain', whenScaled = 'Retain' } = set.spec?.persistentVolumeClaimRetentionPolicy ?? {};
  const isOurs = ({ uid, kind, name }: OwnerReference): boolean =>
    uid === set.metadata?.uid || (kind === 'Pod' && name === pod?.metadata?.name);
  const others = (claim.metadata?.ownerReferences ?? []).filter((reference) => !isOurs(reference));
  if (whenScaled === 'Delete' && isCondemned && pod !== undefined) return [...others, referenceTo(pod, 'v1', 'Pod')];
  if (whenDeleted === 'Delete') return [...others, { ...referenceTo(set, 'apps/v1', 'StatefulSet'), controller: true }];
  return others;
}

function referenceTo({ metadata }: Pick<Pod, 'metadata'>, apiVersion: string, kind: string): OwnerReference {
  return { apiVersion, kind, name: metadata?.name ?? '', uid: metadata?.uid ?? '' };
}
