import type { Client, ObjectRef } from '@asterism/client';
import type { KubeObject, ResourceType } from '@asterism/machinery';
import { watchResource } from '@asterism/runtime';

/**
 * How long to wait for an object.
 *
 * @example {@link untilObject}
 */
export interface UntilObjectOptions {
  /** Default 20 s. */
  timeoutMs?: number;
  /** Ends the wait early, which then rejects with the signal's reason. */
  signal?: AbortSignal;
}

/**
 * Watches an object through every failure until it is as wanted, and returns it as it is then. While it does not exist, `isWanted` gets
 * `undefined`. Rejects after `timeoutMs`, with an error that shows the object.
 *
 * @example
 * ```ts
 * const sample = { namespace: 'default', name: 'sample' };
 * const ready = await untilObject(client, TESTS, sample, (found) => found?.status?.ready === 2);
 * await untilObject(client, TESTS, sample, (found) => found === undefined, { timeoutMs: 30_000 });
 * ```
 */
export async function untilObject<T extends KubeObject>(
  client: Client,
  type: ResourceType<T>,
  { namespace, name }: ObjectRef,
  isWanted: (found: T | undefined) => boolean,
  { timeoutMs = 20_000, signal }: UntilObjectOptions = {},
): Promise<T | undefined> {
  const timeout = AbortSignal.timeout(timeoutMs);
  const over = signal ? AbortSignal.any([signal, timeout]) : timeout;
  const selector = { namespace, fieldSelector: `metadata.name=${name}`, signal: over };
  let found: T | undefined;
  try {
    for await (const event of watchResource(client.resource(type), selector)) {
      if (event.type === 'Init' || event.type === 'Delete') found = undefined;
      else if (event.type !== 'InitDone') found = event.object;
      // Of a list, only its end shows that an object does not exist.
      if (event.type !== 'Init' && isWanted(found)) return found;
    }
  } catch (error) {
    if (!over.aborted) throw error;
  }
  signal?.throwIfAborted();
  const last = found ? JSON.stringify(found.status ?? found) : 'it does not exist';
  throw new Error(`${type.kind} ${name} is not as wanted after ${timeoutMs} ms: ${last}`);
}
