import { untilObject } from '@asterism/apiserver/testing';
import type { Client, ObjectRef } from '@asterism/client';
import type { KubeObject, ResourceType } from '@asterism/machinery';

/** Resolves when there is no such object; rejects after `timeoutMs`, default a minute. */
export async function untilGone<T extends KubeObject>(
  client: Client,
  type: ResourceType<T>,
  ref: ObjectRef,
  timeoutMs = 60_000,
): Promise<void> {
  await untilObject(client, type, ref, (found) => found === undefined, { timeoutMs });
}
