import {
  labelSelectorFromObject,
  matchesLabels,
  parseQuantity,
  type PersistentVolume,
  type PersistentVolumeClaim,
  quantityToNumber,
  type StorageClass,
} from '@asterism/machinery';

/** The volume that a claim has, or the smallest one that it may take; of those of the same size the first by name. */
export function matchVolume(
  claim: PersistentVolumeClaim,
  volumes: readonly PersistentVolume[],
): PersistentVolume | undefined {
  const own = volumes.find((volume) => isBoundTo(volume, claim));
  if (own !== undefined) return own;
  const { spec } = claim;
  const fitting = volumes.filter((volume) => {
    if (!isFree(volume, claim)) return false;
    if (spec?.volumeName) return volume.metadata?.name === spec.volumeName;
    return fits(volume, claim);
  });
  return fitting.toSorted(
    (a, b) => capacityOf(a) - capacityOf(b) || (a.metadata?.name ?? '').localeCompare(b.metadata?.name ?? ''),
  )[0];
}

export function isBoundTo({ spec }: PersistentVolume, { metadata }: PersistentVolumeClaim): boolean {
  return spec?.claimRef?.uid !== undefined && spec.claimRef.uid === metadata?.uid;
}

/** Nobody's, or kept by name for this claim. */
function isFree({ spec, metadata }: PersistentVolume, claim: PersistentVolumeClaim): boolean {
  if (metadata?.deletionTimestamp !== undefined) return false;
  const { claimRef } = spec ?? {};
  if (claimRef === undefined) return true;
  const isKept = claimRef.name === claim.metadata?.name && claimRef.namespace === claim.metadata?.namespace;
  return claimRef.uid === undefined && isKept;
}

function fits(volume: PersistentVolume, { spec }: PersistentVolumeClaim): boolean {
  const { storageClassName = '', accessModes = [], volumeMode = 'Filesystem' } = volume.spec ?? {};
  if (storageClassName !== (spec?.storageClassName ?? '') || volumeMode !== (spec?.volumeMode ?? 'Filesystem'))
    return false;
  if (!(spec?.accessModes ?? []).every((mode) => accessModes.includes(mode))) return false;
  if (spec?.selector && !matchesLabels(labelSelectorFromObject(spec.selector), volume.metadata?.labels)) return false;
  return capacityOf(volume) >= bytesOf(spec?.resources?.requests?.storage);
}

const capacityOf = ({ spec }: PersistentVolume): number => bytesOf(spec?.capacity?.storage);

function bytesOf(quantity: string | number | undefined): number {
  return quantityToNumber(parseQuantity(String(quantity ?? '0')));
}

/** A volume as a provisioner of that class would make it for the claim; the same claim, the same name. */
export function provisionedVolume(claim: PersistentVolumeClaim, storageClass: StorageClass): PersistentVolume {
  const { name, namespace, uid = '' } = claim.metadata ?? {};
  const volume = `pvc-${uid}`;
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name: volume, annotations: { 'pv.kubernetes.io/provisioned-by': storageClass.provisioner } },
    spec: {
      accessModes: claim.spec?.accessModes ?? ['ReadWriteOnce'],
      capacity: { storage: claim.spec?.resources?.requests?.storage ?? '1Gi' },
      storageClassName: storageClass.metadata?.name ?? '',
      persistentVolumeReclaimPolicy: reclaimPolicyOf(storageClass),
      volumeMode: claim.spec?.volumeMode ?? 'Filesystem',
      hostPath: { path: `/var/lib/simulated-volumes/${volume}` },
      claimRef: {
        apiVersion: 'v1',
        kind: 'PersistentVolumeClaim',
        name: name ?? '',
        namespace: namespace ?? '',
        uid,
      },
    },
  };
}

function reclaimPolicyOf({ reclaimPolicy }: StorageClass): 'Delete' | 'Retain' {
  return reclaimPolicy === 'Retain' ? 'Retain' : 'Delete';
}
