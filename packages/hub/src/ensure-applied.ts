import type { Client } from '@asterism/client';
import {
  deepEqual,
  isJsonObject,
  isNotFound,
  type KubeObject,
  parseJson,
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
  const live = await resource.get({ namespace, name }, { signal }).catch((error) => {
    if (isNotFound(error)) return undefined;
    throw error;
  });
  if (live && contains(live, wanted)) return false;
  const options = { fieldManager: FIELD_MANAGER, signal };
  // Older kube-apiservers (1.20) cannot apply an APIService: they drop the call (kubernetes/kubernetes#89264).
  if (type.kind !== 'APIService') await resource.apply(wanted, { ...options, force: true });
  else if (live) await resource.patch({ namespace, name }, { type: 'merge', body: mergePatch(wanted) }, options);
  else await resource.create(wanted, options);
  return true;
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
