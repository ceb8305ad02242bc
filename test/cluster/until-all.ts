import type { Client } from '@asterism/client';
import type { KubeObject, ResourceType } from '@asterism/machinery';
import { watchResource } from '@asterism/runtime';

export interface Among {
  namespace?: string | undefined;
  labelSelector?: string | undefined;
  /** Default 30 s. */
  timeoutMs?: number | undefined;
}

/** Resolves with all objects of a kind once they are together as wanted: so many, all ready, none left. Rejects, and says what there is, when that takes too long. */
export async function untilAll<T extends KubeObject>(
  client: Client,
  type: ResourceType<T>,
  { namespace, labelSelector, timeoutMs = 30_000 }: Among,
  areWanted: (objects: readonly T[]) => boolean,
): Promise<T[]> {
  const signal = AbortSignal.timeout(timeoutMs);
  let known = new Map<string, T>();
  let listed = false;
  for await (const event of watchResource(client.resource(type), { namespace, labelSelector, signal })) {
    if (event.type === 'Init') {
      known = new Map();
      listed = false;
    } else if (event.type === 'InitDone') listed = true;
    else if (event.type === 'Delete') known.delete(keyOf(event.object));
    else known.set(keyOf(event.object), event.object);
    const objects = [...known.values()];
    if (listed && areWanted(objects)) return objects;
  }
  const found = [...known.values()].map(({ metadata, status }) => `${metadata?.name} ${JSON.stringify(status)}`);
  throw new Error(
    `${type.resource} of ${namespace} are not as wanted after ${timeoutMs} ms; there are ${known.size}:\n${found.join('\n')}`,
  );
}

function keyOf({ metadata }: KubeObject): string {
  return `${metadata?.namespace}/${metadata?.name}`;
}
