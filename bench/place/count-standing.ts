import type { Client } from '@asterism/client';
import { type KubeObject, objectKey, type ResourceType } from '@asterism/machinery';
import { watchResource } from '@asterism/runtime';

export interface Standing {
  type: ResourceType<KubeObject>;
  namespace: string;
  labelSelector?: string;
  /** Which objects count; without it all do. */
  counts?: (object: KubeObject) => boolean;
}

/** Resolves when so many of these objects stand in a server, as a watch of it tells. */
export async function untilStanding(
  client: Client,
  { type, counts = () => true, ...selected }: Standing,
  count: number,
  signal: AbortSignal,
): Promise<void> {
  const stop = new AbortController();
  const standing = new Set<string>();
  let complete = false;
  try {
    const options = { ...selected, signal: AbortSignal.any([signal, stop.signal]) };
    for await (const event of watchResource(client.resource(type), options)) {
      if (event.type === 'Init') standing.clear();
      else if (event.type === 'InitDone') complete = true;
      else if (event.type === 'Delete' || !counts(event.object)) standing.delete(objectKey(event.object));
      else standing.add(objectKey(event.object));
      if (complete && standing.size === count) return;
    }
    signal.throwIfAborted();
  } finally {
    stop.abort();
  }
}
