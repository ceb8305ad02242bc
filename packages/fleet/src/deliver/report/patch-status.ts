import type { Client } from '@asterism/client';
import { isNotFound, type KubeObject, type ResourceType } from '@asterism/machinery';

/**
 * Puts the status of an object, and of no other that has its name by now. An empty one is removed: a kind may require fields of
 * every status that there is. Undefined where the object is gone.
 */
export async function patchStatus<T extends KubeObject>(
  client: Client,
  type: ResourceType<T>,
  { metadata }: T,
  status: object,
  { signal, dryRun }: { signal: AbortSignal; dryRun?: boolean },
): Promise<T | undefined> {
  const { name = '', namespace, uid } = metadata ?? {};
  const body = [
    { op: 'test', path: '/metadata/uid', value: uid },
    Object.keys(status).length > 0 ? { op: 'add', path: '/status', value: status } : { op: 'remove', path: '/status' },
  ];
  const options = { subresource: 'status', signal, ...(dryRun ? { dryRun } : {}) };
  try {
    return await client.resource(type).patch({ namespace, name }, { type: 'json', body }, options);
  } catch (error) {
    if (!isNotFound(error)) throw error;
    return undefined;
  }
}
