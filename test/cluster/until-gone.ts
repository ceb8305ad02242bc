import type { Client, ObjectRef } from '@asterism/client';
import type { KubeObject, ResourceType } from '@asterism/machinery';
import { watchResource } from '@asterism/runtime';

/** Resolves when there is no such object; rejects after `timeoutMs`, default a minute. */
export async function untilGone<T extends KubeObject>(
  client: Client,
  type: ResourceType<T>,
  { namespace, name }: ObjectRef,
  timeoutMs = 60_000,
): Promise<void> {
  const options = { namespace, fieldSelector: `metadata.name=${name}`, signal: AbortSignal.timeout(timeoutMs) };
  let there = false;
  for await (const { type: event } of watchResource(client.resource(type), options)) {
    if (event === 'InitApply' || event === 'Apply') there = true;
    else if (event !== 'InitDone') there = false;
    if (!there && (event === 'InitDone' || event === 'Delete')) return;
  }
  throw new Error(`${type.kind} ${name} is still there after ${timeoutMs} ms`);
}
