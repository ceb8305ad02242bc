import type { Client } from '@asterism/client';
import {
  isAlreadyExists,
  isConflict,
  isNotFound,
  isStatusError,
  type KubeObject,
  type Pod,
  PODS,
} from '@asterism/machinery';
import type { EventRecorder } from './event-recorder.ts';

/** Makes and deletes the pods of a workload, and tells of it as kube-controller-manager does. */
export interface PodWriter {
  /** Making what is there already makes nothing. Rejects where the server refuses, after having told why. */
  create(client: Client, owner: KubeObject, pod: Pod): Promise<void>;
  /** In growing batches, as upstream does: where the first is refused (a quota), the others are not tried. */
  createAll(client: Client, owner: KubeObject, pods: readonly Pod[]): Promise<void>;
  /** Deleting what is gone, or is another of the same name, does nothing. */
  remove(client: Client, owner: KubeObject, pod: Pod): Promise<void>;
}

export function createPodWriter(events: EventRecorder): PodWriter {
  const writer: PodWriter = {
    async createAll(client, owner, pods) {
      for (let from = 0, size = 1; from < pods.length; from += size, size *= 2) {
        await Promise.all(pods.slice(from, from + size).map((pod) => writer.create(client, owner, pod)));
      }
    },
    async create(client, owner, pod) {
      try {
        await client.resource(PODS).create(pod);
        events.record(owner, 'Normal', 'SuccessfulCreate', `Created pod: ${pod.metadata?.name}`);
      } catch (error) {
        if (isAlreadyExists(error)) return;
        // Its namespace goes: nothing more is made there, and nobody needs to be told.
        const message = error instanceof Error ? error.message : String(error);
        if (!isStatusError(error, 'NotFound')) {
          events.record(owner, 'Warning', 'FailedCreate', `Error creating: ${message}`);
        }
        throw error;
      }
    },
    async remove(client, owner, pod) {
      const { namespace, name = '', uid } = pod.metadata ?? {};
      if (pod.metadata?.deletionTimestamp !== undefined) return;
      try {
        await client.resource(PODS).delete({ namespace, name }, { preconditions: { uid } });
        events.record(owner, 'Normal', 'SuccessfulDelete', `Deleted pod: ${name}`);
      } catch (error) {
        if (!isNotFound(error) && !isConflict(error)) throw error;
      }
    },
  };
  return writer;
}
