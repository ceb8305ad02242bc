import type { Client, Clock } from '@asterism/client';
import {
  deepEqual,
  isAlreadyExists,
  isNotFound,
  type Pod,
  PODS,
  REPLICA_SETS,
  type ReplicaSet,
} from '@asterism/machinery';
import { createController, type Manager } from '@asterism/runtime';
import { BY_CONTROLLER, controllerReference, indexByController } from './owned.ts';
import { isActive, isAvailable, isReady } from './pod-state.ts';
import { planReplicas } from './replica-plan.ts';

/** Keeps as many pods as a ReplicaSet asks for, and counts them in its status. */
export function addReplicaSetController(manager: Manager, clock: Clock): void {
  const pods = manager.local.cache.informer(PODS);
  pods.addIndex(BY_CONTROLLER, indexByController);
  manager.add(
    createController({
      name: 'replicaset',
      concurrency: 4,
      async reconcile({ namespace, name }, { cluster }) {
        const set = cluster.cache.get(REPLICA_SETS, { namespace, name });
        if (set === undefined || set.metadata?.deletionTimestamp) return;
        const owned = pods.store.byIndex(BY_CONTROLLER, set.metadata?.uid ?? '');
        await scale(cluster.client, set, owned);
        await writeStatus(cluster.client, set, owned, clock.now());
      },
    })
      .for(REPLICA_SETS)
      .owns(PODS),
  );
}

async function scale(client: Client, set: ReplicaSet, owned: readonly Pod[]): Promise<void> {
  const { name = '', uid = '', namespace } = set.metadata ?? {};
  const plan = planReplicas({ name, uid }, set.spec?.replicas ?? 1, owned);
  await Promise.all([
    ...plan.create.map((podName) => create(client, podOf(set, podName))),
    ...plan.remove.map((pod) => remove(client, namespace, pod)),
  ]);
}

function podOf(set: ReplicaSet, name: string): Pod {
  const { metadata, spec } = set.spec?.template ?? {};
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace: set.metadata?.namespace ?? '',
      generateName: `${set.metadata?.name}-`,
      ...(metadata?.labels ? { labels: metadata.labels } : {}),
      ...(metadata?.annotations ? { annotations: metadata.annotations } : {}),
      ownerReferences: [controllerReference(set)],
    },
    ...(spec ? { spec } : {}),
  };
}

async function create(client: Client, pod: Pod): Promise<void> {
  try {
    await client.resource(PODS).create(pod);
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
  }
}

async function remove(client: Client, namespace: string | undefined, pod: Pod): Promise<void> {
  const { name = '', uid } = pod.metadata ?? {};
  try {
    await client.resource(PODS).delete({ namespace, name }, { preconditions: { uid } });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}

async function writeStatus(client: Client, set: ReplicaSet, owned: readonly Pod[], now: number): Promise<void> {
  const active = owned.filter(isActive);
  const minReadySeconds = set.spec?.minReadySeconds ?? 0;
  const status = {
    ...set.status,
    replicas: active.length,
    fullyLabeledReplicas: active.length,
    readyReplicas: active.filter(isReady).length,
    availableReplicas: active.filter((pod) => isAvailable(pod, minReadySeconds, now)).length,
    observedGeneration: set.metadata?.generation ?? 0,
  };
  if (deepEqual(status, set.status)) return;
  await client.resource(REPLICA_SETS).update({ ...set, status }, { subresource: 'status' });
}
