import type { Client, ObjectRef } from '@asterism/client';
import type { KubeObject, ResourceType } from '@asterism/machinery';
import { watchResource } from '@asterism/runtime';
import type { Daemon } from './daemon.ts';

export interface UntilOptions {
  /** Default 60 s. */
  timeoutMs?: number | undefined;
  /** Whose end ends the waiting: without them it cannot come true. */
  needs?: readonly Daemon[] | undefined;
}

/** Resolves with an object of the cluster once it is as wanted, through any failure on the way; rejects, and says how it is, when that takes too long. */
export async function until<T extends KubeObject>(
  client: Client,
  type: ResourceType<T>,
  ref: ObjectRef,
  isWanted: (object: T) => boolean,
  { timeoutMs = 60_000, needs = [] }: UntilOptions = {},
): Promise<T> {
  const over = new AbortController();
  const timeout = AbortSignal.timeout(timeoutMs);
  const signal = AbortSignal.any([over.signal, timeout]);
  let last: T | undefined;
  const watching = async (): Promise<T> => {
    const selector = { namespace: ref.namespace, fieldSelector: `metadata.name=${ref.name}` };
    for await (const event of watchResource(client.resource(type), { ...selector, signal })) {
      if (event.type !== 'Apply' && event.type !== 'InitApply') continue;
      last = event.object;
      if (isWanted(last)) return last;
    }
    throw new Error(
      `${type.kind} ${ref.name} is not as wanted after ${timeoutMs} ms: ${last ? JSON.stringify(last.status ?? last) : 'it is not there'}`,
    );
  };
  const ended = needs.map(async (daemon) => {
    await daemon.exited();
    throw await daemon.ended();
  });
  try {
    return await Promise.race([watching(), ...ended]);
  } finally {
    over.abort();
    for (const end of ended) end.catch(() => {});
  }
}
