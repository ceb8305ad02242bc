import type { Client } from '@asterism/client';
import { isConditionTrue, isConflict, isNotFound, type Job, JOBS } from '@asterism/machinery';
import { watchResource } from '@asterism/runtime';

const MET = { type: 'SuccessCriteriaMet', status: 'True', reason: 'CompletionsReached' };

/**
 * Says of every Job that has begun that its pods met what it asks, as the controller of today does before it says that the Job is
 * complete: Kubernetes 1.31 and newer insist on that, and the controller of 1.20 knows nothing of it. Goes on until disposed of.
 */
export function sayCriteriaMet(client: Client): AsyncDisposable {
  const stop = new AbortController();
  const { signal } = stop;
  const work = follow(client, signal).catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });
  return {
    async [Symbol.asyncDispose]() {
      stop.abort();
      await work;
    },
  };
}

async function follow(client: Client, signal: AbortSignal): Promise<void> {
  for await (const event of watchResource(client.resource(JOBS), { signal })) {
    if (event.type === 'InitApply' || event.type === 'Apply') await say(client, event.object, signal);
  }
}

async function say(client: Client, { metadata, status }: Job, signal: AbortSignal): Promise<void> {
  const { conditions, startTime } = status ?? {};
  if (!startTime || isConditionTrue(conditions, 'Complete') || isConditionTrue(conditions, MET.type)) return;
  const { name = '', namespace, uid } = metadata ?? {};
  const patch = { type: 'strategic', body: { metadata: { uid }, status: { conditions: [MET] } } } as const;
  try {
    await client.resource(JOBS).patch({ namespace, name }, patch, { subresource: 'status', signal });
  } catch (error) {
    if (!isNotFound(error) && !isConflict(error)) throw error;
  }
}
