import type { Client } from '@asterism/client';
import { isNotFound, type KubeObject, type ResourceType } from '@asterism/machinery';

/** Puts the status of an object, and of no other that has its name by now. Undefined where it is gone. */
export async function patchStatus<T extends KubeObject>(
  client: Client,
  type: ResourceType<T>,
  { metadata }: T,
  status: object,
  signal: AbortSignal,
): Promise<T | undefined> {
  const { name = '', namespace, uid } = metadata ?? {};
  const body = [
    { op: 'test', path: '/metadata/uid', value: uid },
    { op: 'add', path: '/status', value: status },
  ];
  const options = { subresource: 'status', signal };
  try {
    return await client.resource(type).patch({ namespace, name }, { type: 'json', body }, options);
  } catch (error) {
    if (!isNotFound(error)) throw error;
    return undefined;
  }
}
