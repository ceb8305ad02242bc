import {
  isNotFound,
  type KubeObject,
  PERSISTENT_VOLUME_CLAIMS,
  PERSISTENT_VOLUMES,
  PODS,
  VOLUME_ATTRIBUTES_CLASSES,
} from '@asterism/machinery';
import { requireResource } from '../registry/require-resource.ts';
import { type Controller, type ControllerOptions, writeContext } from './controller-options.ts';
import { KeyedWork } from './keyed-work.ts';
import { unlessChanged } from './unless-changed.ts';
import type { ServedResource } from '../contract/served-resource.ts';

interface Pod extends KubeObject {
  spec?: { volumes?: { name: string; persistentVolumeClaim?: { claimName: string }; ephemeral?: object }[] };
  status?: { phase?: string };
}

interface WithClass extends KubeObject {
  spec?: { volumeAttributesClassName?: string };
  status?: { phase?: string; currentVolumeAttributesClassName?: string };
}

/** What is held back, by which finalizer, and what can use it. */
interface Protection {
  resource: ServedResource;
  finalizer: string;
  users: readonly ServedResource[];
  isUsed(object: KubeObject): Promise<boolean>;
}

/**
 * Lets claims, volumes and their classes go that are being deleted, once nobody uses them: takes off the finalizers that new
 * ones are given.
 *
 * V1. A claim goes when no pod of its namespace that is not finished names it; a volume when it is not bound; a class when
 *     no claim and no volume has it.
 * V2. What might have freed something that waits, is a reason to look again: the end of a pod, a claim or a volume.
 */
export function startVolumeProtectionController(options: ControllerOptions): Controller {
  const { registry, signal, onError } = options;
  const protections = protectionsOf(options);
  const waiting = new Set<string>();
  const work = new KeyedWork({
    work: async (key) => {
      if (await release(options, protections, key)) waiting.delete(key);
    },
    onError: (key, error) => onError(`the protection of ${key}`, error),
    signal,
  });
  const look = (protection: Protection, { metadata }: KubeObject): void => {
    if (!metadata?.deletionTimestamp || !metadata.finalizers?.includes(protection.finalizer)) return;
    const key = [protection.finalizer, metadata.namespace ?? '', metadata.name ?? ''].join(' ');
    waiting.add(key);
    work.add(key);
  };
  const stop = registry.observe(({ resource, type, stored }) => {
    const protection = protections.find((each) => each.resource === resource);
    if (protection && type === 'put') look(protection, stored.parse());
    if (waiting.size === 0 || !protections.some(({ users }) => users.includes(resource))) return;
    if (type === 'delete' || isFinished(stored.parse())) for (const key of waiting) work.add(key);
  });
  signal.addEventListener('abort', stop, { once: true });
  const begin = Promise.all(
    protections.map(async (protection) => {
      const { items } = await registry.list(protection.resource);
      for (const item of items) look(protection, item.parse());
    }),
  ).catch((error: unknown) => onError('the protection of what is stored', error));
  return {
    settled: async () => {
      await begin;
      await work.settled();
    },
  };
}

function protectionsOf({ registry }: ControllerOptions): Protection[] {
  const pods = requireResource(registry, PODS);
  const claims = requireResource(registry, PERSISTENT_VOLUME_CLAIMS);
  const volumes = requireResource(registry, PERSISTENT_VOLUMES);
  const any = async (resource: ServedResource, namespace: string | undefined, uses: (object: KubeObject) => boolean) =>
    (await registry.list(resource, { namespace })).items.some((item) => uses(item.parse()));
  return [
    {
      resource: claims,
      finalizer: 'kubernetes.io/pvc-protection',
      users: [pods],
      isUsed: ({ metadata }) => any(pods, metadata?.namespace, (pod) => namesClaim(pod, metadata?.name ?? '')),
    },
    {
      resource: volumes,
      finalizer: 'kubernetes.io/pv-protection',
      users: [],
      isUsed: async (volume) => (volume as WithClass).status?.phase === 'Bound',
    },
    {
      resource: requireResource(registry, VOLUME_ATTRIBUTES_CLASSES),
      finalizer: 'kubernetes.io/vac-protection',
      users: [claims, volumes],
      isUsed: async ({ metadata }) => {
        const uses = (object: KubeObject): boolean => hasClass(object, metadata?.name ?? '');
        return (await any(volumes, undefined, uses)) || (await any(claims, undefined, uses));
      },
    },
  ];
}

function isFinished(pod: Pod): boolean {
  return pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed';
}

function namesClaim(pod: Pod, claim: string): boolean {
  if (isFinished(pod)) return false;
  return (pod.spec?.volumes ?? []).some(
    ({ name, persistentVolumeClaim, ephemeral }) =>
      persistentVolumeClaim?.claimName === claim || (ephemeral && `${pod.metadata?.name ?? ''}-${name}` === claim),
  );
}

function hasClass({ spec, status }: WithClass, name: string): boolean {
  return spec?.volumeAttributesClassName === name || status?.currentVolumeAttributesClassName === name;
}

/** Resolves with whether it need not wait any more. */
async function release(options: ControllerOptions, protections: readonly Protection[], key: string): Promise<boolean> {
  const { registry } = options;
  const [finalizer, namespace = '', name = ''] = key.split(' ');
  const protection = protections.find((each) => each.finalizer === finalizer);
  if (!protection) return true;
  const { resource, isUsed } = protection;
  const ref = { name, ...(namespace === '' ? {} : { namespace }) };
  const found = await registry.get(resource, ref).catch((error: unknown) => {
    if (!isNotFound(error)) throw error;
  });
  const object = found?.parse();
  const finalizers = object?.metadata?.finalizers ?? [];
  if (!object?.metadata?.deletionTimestamp || !finalizers.includes(protection.finalizer)) return true;
  if (await isUsed(object)) return false;
  const rest = finalizers.filter((each) => each !== finalizer);
  const body = { ...object, metadata: { ...object.metadata, finalizers: rest } };
  await unlessChanged(() => registry.update(resource, ref, body, writeContext(options, ref.namespace)));
  return true;
}
