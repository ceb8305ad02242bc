import type { Client, Clock } from '@asterism/client';
import {
  deepEqual,
  findCondition,
  formatTime,
  type Pod,
  PODS,
  REPLICA_SETS,
  type ReplicaSet,
  type ReplicaSetCondition,
} from '@asterism/machinery';
import { createController, type Manager } from '@asterism/runtime';
import { claimObjects } from './claim-objects.ts';
import { createEventRecorder } from './event-recorder.ts';
import { BY_CONTROLLER, indexByController } from './owned.ts';
import { podFromTemplate } from './pod-from-template.ts';
import { isActive, isAvailable, isReady, untilAvailable } from './pod-state.ts';
import { createPodWriter, type PodWriter } from './pod-writer.ts';
import { planReplicas, type ReplicaPlan } from './replica-plan.ts';

/** Keeps as many pods as a ReplicaSet asks for, and counts them in its status. */
export function addReplicaSetController(manager: Manager, clock: Clock): void {
  const pods = manager.local.cache.informer(PODS);
  pods.addIndex(BY_CONTROLLER, indexByController);
  const writer = createPodWriter(createEventRecorder(manager.local.client, 'replicaset-controller', clock));
  manager.add(
    createController({
      name: 'replicaset',
      concurrency: 4,
      async reconcile({ namespace, name }, { cluster }) {
        const set = cluster.cache.get(REPLICA_SETS, { namespace, name });
        if (set === undefined || set.metadata?.deletionTimestamp) return;
        const { client } = cluster;
        const { selector } = set.spec ?? {};
        const owned = await claimObjects({
          client,
          type: PODS,
          owner: set,
          selector,
          store: pods.store,
          mayAdopt: isActive,
        });
        let failure: Error | undefined;
        try {
          const isTaken = (pod: string): boolean => pods.store.get(`${namespace}/${pod}`) !== undefined;
          const plan = planReplicas({ name, uid: set.metadata?.uid ?? '' }, set.spec?.replicas ?? 1, owned, isTaken);
          await carryOut(client, set, plan, writer);
        } catch (error) {
          failure = error instanceof Error ? error : new Error(String(error));
        }
        await writeStatus(client, set, owned, { now: clock.wall().getTime(), failure });
        if (failure !== undefined) throw failure;
        return { requeueAfter: untilAvailable(owned, set.spec?.minReadySeconds ?? 0, clock.wall().getTime()) };
      },
    })
      .for(REPLICA_SETS)
      .owns(PODS),
  );
}

async function carryOut(client: Client, set: ReplicaSet, plan: ReplicaPlan, writer: PodWriter): Promise<void> {
  await Promise.all(plan.remove.map((pod) => writer.remove(client, set, pod)));
  const made = plan.create.map((name) => podFromTemplate(set, set.spec?.template, name));
  await writer.createAll(client, set, made);
}

async function writeStatus(
  client: Client,
  set: ReplicaSet,
  owned: readonly Pod[],
  { now, failure }: { now: number; failure: Error | undefined },
): Promise<void> {
  const active = owned.filter(isActive);
  const minReadySeconds = set.spec?.minReadySeconds ?? 0;
  const { conditions: _, ...before } = set.status ?? { replicas: 0 };
  const conditions = conditionsOf(set, now, failure);
  const status = {
    ...before,
    replicas: active.length,
    fullyLabeledReplicas: active.length,
    readyReplicas: active.filter(isReady).length,
    availableReplicas: active.filter((pod) => isAvailable(pod, minReadySeconds, now)).length,
    observedGeneration: set.metadata?.generation ?? 0,
    ...(conditions.length > 0 ? { conditions } : {}),
  };
  if (deepEqual(status, set.status)) return;
  await client.resource(REPLICA_SETS).update({ ...set, status }, { subresource: 'status' });
}

/** `ReplicaFailure` for as long as pods cannot be made. */
function conditionsOf({ status }: ReplicaSet, now: number, failure: Error | undefined): ReplicaSetCondition[] {
  const type = 'ReplicaFailure';
  const others = (status?.conditions ?? []).filter((condition) => condition.type !== type);
  if (failure === undefined) return others;
  const message = failure.message;
  const since = findCondition(status?.conditions, type)?.lastTransitionTime ?? formatTime(now);
  return [...others, { type, status: 'True', reason: 'FailedCreate', message, lastTransitionTime: since }];
}
