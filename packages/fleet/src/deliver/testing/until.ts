import type { Client, ObjectRef } from '@asterism/client';
import { type KubeObject, objectKey, type ResourceType } from '@asterism/machinery';
import { watchResource } from '@asterism/runtime';

const PATIENCE_MS = 8_000;

/** Watches an object until it passes the test (undefined: it is not there), and returns it as it is then. */
export async function until<T extends KubeObject>(
  client: Client,
  type: ResourceType<T>,
  ref: ObjectRef,
  test: (object: T | undefined) => boolean,
): Promise<T | undefined> {
  const abort = new AbortController();
  const timer = setTimeout(() => abort.abort(), PATIENCE_MS);
  const key = ref.namespace ? `${ref.namespace}/${ref.name}` : ref.name;
  let present: T | undefined;
  let complete = false;
  try {
    const { namespace } = ref;
    for await (const event of watchResource(client.resource(type), { namespace, signal: abort.signal })) {
      if (event.type === 'InitDone') complete = true;
      else if (event.type !== 'Init' && objectKey(event.object) === key) {
        present = event.type === 'Delete' ? undefined : event.object;
      }
      if (complete && test(present)) return present;
    }
    throw new Error(
      `${type.kind} ${key} did not come to it within ${PATIENCE_MS} ms: ${JSON.stringify(present, undefined, 1)}`,
    );
  } finally {
    clearTimeout(timer);
    abort.abort();
  }
}
