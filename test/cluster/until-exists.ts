import { untilObject } from '@asterism/apiserver/testing';
import type { Client, ObjectRef } from '@asterism/client';
import type { KubeObject, ResourceType } from '@asterism/machinery';
import type { Daemon } from './daemon.ts';

export interface UntilExistsOptions {
  /** Default 60 s. */
  timeoutMs?: number | undefined;
  /** If one of them ends, the wait is in vain and rejects. */
  needs?: readonly Daemon[] | undefined;
}

/** Resolves with an object when it exists and is as wanted. */
export async function untilExists<T extends KubeObject>(
  client: Client,
  type: ResourceType<T>,
  ref: ObjectRef,
  isWanted: (object: T) => boolean,
  { timeoutMs = 60_000, needs = [] }: UntilExistsOptions = {},
): Promise<T> {
  const over = new AbortController();
  const options = { timeoutMs, signal: over.signal };
  const watching = untilObject(client, type, ref, (found) => found !== undefined && isWanted(found), options);
  const ended = needs.map(async (daemon) => {
    await daemon.exited();
    throw await daemon.ended();
  });
  try {
    return (await Promise.race([watching, ...ended])) as T;
  } finally {
    over.abort();
    for (const end of [watching, ...ended]) end.catch(() => {});
  }
}
