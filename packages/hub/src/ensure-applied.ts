import type { Client } from '@asterism/client';
import {
  deepEqual,
  isJsonObject,
  isNotFound,
  isStatusError,
  type KubeObject,
  parseJson,
  resourcePath,
  type ResourceType,
} from '@asterism/machinery';

/** Under which the hub's own objects are applied, in whichever API server. */
export const FIELD_MANAGER = 'asterism-hub';

/**
 * Server-side apply, forced, unless the live object says all of it already. An APIService is created or patched instead; a field
 * of it that is `undefined` in `wanted` is taken away.
 * Resolves with whether something was written.
 */
export async function ensureApplied<T extends KubeObject>(
  client: Client,
  type: ResourceType<T>,
  wanted: T,
  signal?: AbortSignal,
): Promise<boolean> {
  const { namespace, name = '' } = wanted.metadata ?? {};
  const resource = client.resource(type);
  const live = await getIntact(client, type, { namespace, name }, signal);
  if (live && contains(live, wanted)) return false;
  const options = { fieldManager: FIELD_MANAGER, signal };
  // Older kube-apiservers (1.20) cannot apply an APIService: they drop the call (kubernetes/kubernetes#89264).
  if (type.kind !== 'APIService') await resource.apply(wanted, { ...options, force: true });
  else if (live) await resource.patch({ namespace, name }, { type: 'merge', body: mergePatch(wanted) }, options);
  else await resource.create(wanted, options);
  return true;
}

/**
 * An object that the hub installs; undefined if there is none. If its stored copy is damaged, it is deleted: the hub knows what
 * belongs there, and would not start without it.
 */
export async function getIntact<T extends KubeObject>(
  client: Client,
  type: ResourceType<T>,
  { namespace, name }: { namespace?: string | undefined; name: string },
  signal: AbortSignal | undefined,
): Promise<T | undefined> {
  try {
    return await client.resource(type).get({ namespace, name }, { signal });
  } catch (error) {
    if (isNotFound(error)) return undefined;
    if (!isStatusError(error, 'StorageReadError')) throw error;
    const path = resourcePath(type, { name, ...(namespace && { namespace }) });
    await client.request({
      method: 'DELETE',
      path: `${path}?ignoreStoreReadErrorWithClusterBreakingPotential=true`,
      signal,
    });
    return undefined;
  }
}

/** A merge patch takes away what is null in it. */
function mergePatch(wanted: KubeObject): unknown {
  return parseJson(JSON.stringify(wanted, (_, value: unknown) => (value === undefined ? null : value)));
}

/**
 * Whether `live` has every field of `wanted` as it is there, and none that is `undefined` there; lists are compared whole, item
 * by item.
 */
export function contains(live: unknown, wanted: unknown): boolean {
  if (Array.isArray(wanted)) {
    if (!Array.isArray(live) || live.length !== wanted.length) return false;
    return wanted.every((item, index) => contains(live[index], item));
  }
  if (!isJsonObject(wanted)) return deepEqual(live, wanted);
  return isJsonObject(live) && Object.entries(wanted).every(([key, value]) => contains(live[key], value));
}
