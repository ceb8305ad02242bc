import type { Client, Clock } from '@asterism/client';
import {
  CONTROLLER_REVISIONS,
  DAEMON_SETS,
  type DaemonSet,
  type DaemonSetStatus,
  deepEqual,
  isNotFound,
  type Node,
  NODES,
  type NodeSelectorTerm,
  type Pod,
  PODS,
  type PodSpec,
} from '@asterism/machinery';
import { createController, type Manager, type Predicate } from '@asterism/runtime';
import { daemonSetStatus } from './daemon-set-status.ts';
import { daemonTolerations, planDaemonSet, POD_HASH_LABEL } from './daemon-set-plan.ts';
import { createEventRecorder } from './event-recorder.ts';
import { podFromTemplate } from './pod-from-template.ts';
import { untilAvailable } from './pod-state.ts';
import { createPodWriter } from './pod-writer.ts';
import { writeRevisions } from './revision-history.ts';
import { planRevisions, templateHash } from './revision-plan.ts';
import { followBelongings } from './set-belongings.ts';

const GENERATION = 'deprecated.daemonset.template.generation';

/** What of a node decides whether a daemon runs there; its heartbeats do not. */
const PLACE_CHANGED: Predicate<Node> = {
  update: (before, after) =>
    !deepEqual(
      [before.metadata?.labels ?? {}, before.spec?.taints ?? []],
      [after.metadata?.labels ?? {}, after.spec?.taints ?? []],
    ),
};

/** Keeps a pod on each node that a DaemonSet wants: see `planDaemonSet` for the rules. */
export function addDaemonSetController(manager: Manager, clock: Clock): void {
  const { cache, client: local } = manager.local;
  const claimBelongings = followBelongings(cache);
  const sets = cache.informer(DAEMON_SETS);
  const writer = createPodWriter(createEventRecorder(local, 'daemonset-controller', clock));
  manager.add(
    createController({
      name: 'daemonset',
      concurrency: 2,
      async reconcile({ namespace, name }, { cluster }) {
        const set = cluster.cache.get(DAEMON_SETS, { namespace, name });
        if (set === undefined || set.metadata?.deletionTimestamp) return;
        const { client } = cluster;
        const { pods: owned, revisions: history } = await claimBelongings(client, set);
        const used = new Set(owned.map((pod) => `${name}-${pod.metadata?.labels?.[POD_HASH_LABEL]}`));
        await writeRevisions(client, planRevisions(set, history, used, POD_HASH_LABEL));
        const hash = templateHash(set.spec?.template);
        const nodes = cluster.cache.list(NODES);
        const plan = planDaemonSet(set, nodes, owned, hash, clock.wall().getTime());
        try {
          await Promise.all(plan.remove.map((pod) => writer.remove(client, set, pod)));
          const made = plan.create.map((place) => podOf(set, hash, place));
          await writer.createAll(client, set, made);
        } finally {
          await writeStatus(client, set, daemonSetStatus(set, nodes, owned, hash, clock.wall().getTime()));
        }
        return { requeueAfter: untilAvailable(owned, set.spec?.minReadySeconds ?? 0, clock.wall().getTime()) };
      },
    })
      .for(DAEMON_SETS)
      .owns(PODS)
      .owns(CONTROLLER_REVISIONS)
      .watches(
        NODES,
        () =>
          sets.store
            .list()
            .map(({ metadata }) => ({ cluster: '', namespace: metadata?.namespace, name: metadata?.name ?? '' })),
        { predicates: [PLACE_CHANGED] },
      ),
  );
}

function podOf(set: DaemonSet, hash: string, { name, node }: { name: string; node: string }): Pod {
  const pod = podFromTemplate(set, set.spec?.template, name);
  const generation = set.metadata?.annotations?.[GENERATION];
  return {
    ...pod,
    metadata: {
      ...pod.metadata,
      labels: {
        ...pod.metadata?.labels,
        [POD_HASH_LABEL]: hash,
        ...(generation === undefined ? {} : { 'pod-template-generation': generation }),
      },
    },
    ...(pod.spec
      ? { spec: { ...pod.spec, affinity: affinityTo(pod.spec, node), tolerations: daemonTolerations(pod.spec) } }
      : {}),
  };
}

/** What the template requires of nodes was asked before; what is required now is the one node. */
function affinityTo({ affinity }: PodSpec, node: string): PodSpec['affinity'] {
  const matchFields: NodeSelectorTerm['matchFields'] = [{ key: 'metadata.name', operator: 'In', values: [node] }];
  return {
    ...affinity,
    nodeAffinity: {
      ...affinity?.nodeAffinity,
      requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchFields }] },
    },
  };
}

async function writeStatus(client: Client, set: DaemonSet, status: DaemonSetStatus): Promise<void> {
  const { collisionCount, ...before } = set.status ?? {};
  if (deepEqual(status, before)) return;
  const next = collisionCount === undefined ? status : { ...status, collisionCount };
  try {
    await client.resource(DAEMON_SETS).update({ ...set, status: next }, { subresource: 'status' });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}
