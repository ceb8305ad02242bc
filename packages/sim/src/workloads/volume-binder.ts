import type { Client } from '@asterism/client';
import {
  isAlreadyExists,
  isNotFound,
  PERSISTENT_VOLUME_CLAIMS,
  PERSISTENT_VOLUMES,
  type PersistentVolume,
  type PersistentVolumeClaim,
  STORAGE_CLASSES,
  type StorageClass,
} from '@asterism/machinery';
import { createController, type Manager } from '@asterism/runtime';
import { isBoundTo, matchVolume, provisionedVolume } from './volume-match.ts';

const DEFAULT_CLASS = 'storageclass.kubernetes.io/is-default-class';
const NO_PROVISIONER = 'kubernetes.io/no-provisioner';

/**
 * Binds claims to volumes: to one that is there and fits, or else to one made for it, of the class that it names or the default
 * one, whatever that class's provisioner is called. Nothing is stored in such a volume but its name.
 */
export function addVolumeBinder(manager: Manager): void {
  const { cache } = manager.local;
  const claims = cache.informer(PERSISTENT_VOLUME_CLAIMS);
  const volumes = cache.informer(PERSISTENT_VOLUMES);
  const classes = cache.informer(STORAGE_CLASSES);
  const waiting = () =>
    claims.store
      .list()
      .filter(({ status }) => status?.phase !== 'Bound')
      .map(({ metadata }) => ({ cluster: '', namespace: metadata?.namespace, name: metadata?.name ?? '' }));
  manager.add({ name: 'default-storage-class', run: () => keepDefaultClass(manager.local.client) });
  manager.add(
    createController({
      name: 'persistentvolume-binder',
      async reconcile({ namespace, name }, { cluster }) {
        const claim = cluster.cache.get(PERSISTENT_VOLUME_CLAIMS, { namespace, name });
        const { client } = cluster;
        const all = volumes.store.list();
        if (claim === undefined) {
          await letGo(client, all, `${namespace}/${name}`);
          return;
        }
        if (claim.metadata?.deletionTimestamp || claim.status?.phase === 'Bound') return;
        const found =
          matchVolume(claim, all) ?? (await provision(client, claim, classFor(claim, classes.store.list())));
        if (found !== undefined) await bind(client, claim, found);
      },
    })
      .for(PERSISTENT_VOLUME_CLAIMS)
      .watches(PERSISTENT_VOLUMES, ({ spec }) => [
        ...(spec?.claimRef
          ? [{ cluster: '', namespace: spec.claimRef.namespace, name: spec.claimRef.name ?? '' }]
          : waiting()),
      ])
      .watches(STORAGE_CLASSES, waiting),
  );
}

/** A cluster without any class of volumes is given one, as those who set clusters up do. */
async function keepDefaultClass(client: Client): Promise<void> {
  const classes = client.resource(STORAGE_CLASSES);
  if ((await classes.list({ limit: 1 })).items.length > 0) return;
  const standard: StorageClass = {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'StorageClass',
    metadata: { name: 'standard', annotations: { [DEFAULT_CLASS]: 'true' } },
    provisioner: 'simulated.asterism.dev/volume',
    reclaimPolicy: 'Delete',
    volumeBindingMode: 'Immediate',
  };
  await classes.create(standard).catch((error: unknown) => {
    if (!isAlreadyExists(error)) throw error;
  });
}

function classFor({ spec }: PersistentVolumeClaim, classes: readonly StorageClass[]): StorageClass | undefined {
  if (spec?.volumeName) return undefined;
  const name = spec?.storageClassName;
  if (name !== undefined) return classes.find(({ metadata }) => metadata?.name === name);
  return classes.find(({ metadata }) => metadata?.annotations?.[DEFAULT_CLASS] === 'true');
}

async function provision(
  client: Client,
  claim: PersistentVolumeClaim,
  storageClass: StorageClass | undefined,
): Promise<PersistentVolume | undefined> {
  if (storageClass === undefined || storageClass.provisioner === NO_PROVISIONER) return undefined;
  const volume = provisionedVolume(claim, storageClass);
  try {
    return await client.resource(PERSISTENT_VOLUMES).create(volume);
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
    return await client.resource(PERSISTENT_VOLUMES).get({ name: volume.metadata?.name ?? '' });
  }
}

/** The volume first, so that nobody else takes it; then the claim. */
async function bind(client: Client, claim: PersistentVolumeClaim, volume: PersistentVolume): Promise<void> {
  const { namespace, name = '', uid } = claim.metadata ?? {};
  const volumeName = volume.metadata?.name ?? '';
  const claimRef = { apiVersion: 'v1', kind: 'PersistentVolumeClaim', namespace, name, uid };
  const annotations = { 'pv.kubernetes.io/bound-by-controller': 'yes' };
  const volumes = client.resource(PERSISTENT_VOLUMES);
  if (!isBoundTo(volume, claim)) {
    const { resourceVersion } = volume.metadata ?? {};
    const body = { metadata: { resourceVersion, annotations }, spec: { claimRef } };
    await volumes.patch({ name: volumeName }, { type: 'merge', body });
  }
  await volumes.patch(
    { name: volumeName },
    { type: 'merge', body: { status: { phase: 'Bound' } } },
    { subresource: 'status' },
  );
  const bound = { ...annotations, 'pv.kubernetes.io/bind-completed': 'yes' };
  const claims = client.resource(PERSISTENT_VOLUME_CLAIMS);
  await claims.patch(
    { namespace, name },
    { type: 'merge', body: { metadata: { uid, annotations: bound }, spec: { volumeName } } },
  );
  const { accessModes = [], capacity = {} } = volume.spec ?? {};
  const status = { phase: 'Bound', accessModes, capacity };
  await claims.patch({ namespace, name }, { type: 'merge', body: { status } }, { subresource: 'status' });
}

/** A claim is gone: its volume goes with it, or stands released, as its reclaim policy says. */
async function letGo(client: Client, volumes: readonly PersistentVolume[], claim: string): Promise<void> {
  const resource = client.resource(PERSISTENT_VOLUMES);
  for (const { metadata, spec, status } of volumes) {
    const { claimRef, persistentVolumeReclaimPolicy } = spec ?? {};
    if (claimRef?.uid === undefined || `${claimRef.namespace}/${claimRef.name}` !== claim) continue;
    const ref = { name: metadata?.name ?? '' };
    try {
      // A volume that is bound is protected from deletion.
      if (status?.phase !== 'Released') {
        await resource.patch(
          ref,
          { type: 'merge', body: { status: { phase: 'Released' } } },
          { subresource: 'status' },
        );
      }
      const goes = persistentVolumeReclaimPolicy === 'Delete' && metadata?.deletionTimestamp === undefined;
      if (goes) await resource.delete(ref);
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }
}
