import type { Client, Clock } from '@asterism/client';
import {
  BINDINGS,
  findCondition,
  formatTime,
  isConflict,
  isNotFound,
  NAMESPACES,
  NODES,
  type Pod,
  PODS,
} from '@asterism/machinery';
import { createController, type Informer, type Manager } from '@asterism/runtime';
import { createEventRecorder, type EventRecorder } from '../workloads/event-recorder.ts';
import { isActive } from '../workloads/pod-state.ts';
import { chooseNode } from './choose-node.ts';
import { chooseVictims, type Preemption } from './choose-victims.ts';
import { NodeLedger } from './node-ledger.ts';
import { podRequests } from './pod-requests.ts';
import { type Peers, PodTopology } from './pod-topology.ts';

const NAME = 'default-scheduler';
const BY_NODE = 'node';
const GUARDED = 'keeps others away';

/**
 * Binds pods to nodes. What is chosen for one is taken into account for the next at once, so that no two are given the same room.
 */
export function addScheduler(manager: Manager, clock: Clock): void {
  const { cache } = manager.local;
  const pods = cache.informer(PODS);
  const namespaces = cache.informer(NAMESPACES);
  pods.addIndex(BY_NODE, (pod) => (!hasEnded(pod) && pod.spec?.nodeName ? [pod.spec.nodeName] : []));
  pods.addIndex(GUARDED, (pod) => (isActive(pod) && pod.spec?.nodeName && keepsAway(pod) ? [GUARDED] : []));
  const ledger = keepLedger(pods);
  const events = createEventRecorder(manager.local.client, NAME, clock);
  const podsOn = (node: string): Pod[] => pods.store.byIndex(BY_NODE, node);
  manager.add(
    createController({
      name: 'scheduler',
      concurrency: 8,
      concurrencyPerCluster: 8,
      async reconcile({ namespace, name }, { cluster }) {
        const pod = cluster.cache.get(PODS, { namespace, name });
        if (pod === undefined || !isWaiting(pod) || ledger.has(pod.metadata?.uid ?? '')) return;
        const nodes = cluster.cache.list(NODES);
        const peers: Peers = {
          nodes,
          podsOn,
          guarded: () => pods.store.byIndex(GUARDED, GUARDED),
          namespaceLabels: (each) => namespaces.store.get(each)?.metadata?.labels ?? {},
        };
        const used = (node: string) => ledger.used(node);
        const choice = chooseNode(pod, { nodes, used, topology: new PodTopology(pod, peers) });
        if (choice.node !== undefined) {
          await assign(cluster.client, pod, choice.node, { ledger, events });
          return;
        }
        const said = await sayUnschedulable(cluster.client, pod, choice.message, formatTime(clock.wall().getTime()));
        if (said) events.record(pod, 'Warning', 'FailedScheduling', choice.message);
        const preemption = isAwaitingRoom(pod, podsOn) ? undefined : chooseVictims(pod, { nodes, used, podsOn });
        if (preemption)
          await preempt(cluster.client, pod, preemption, { events, now: formatTime(clock.wall().getTime()) });
      },
    })
      .for(PODS)
      .watches(NODES, () => pods.store.list().filter(isWaiting).map(requestOf))
      .watches(PODS, (pod) => (isActive(pod) ? [] : pods.store.list().filter(isWaiting).map(requestOf))),
  );
}

/** The sums of what pods ask for. One that was given a node counts from then on, before the cache shows it. */
function keepLedger(pods: Informer<Pod>): NodeLedger {
  const ledger = new NodeLedger();
  const note = (pod: Pod): void => {
    const uid = pod.metadata?.uid ?? '';
    if (hasEnded(pod)) ledger.remove(uid);
    else if (pod.spec?.nodeName) ledger.enter(uid, { node: pod.spec.nodeName, requests: podRequests(pod) });
  };
  pods.addHandler({
    onAdd: note,
    onUpdate: (before, pod) => {
      const same = before.spec?.nodeName === pod.spec?.nodeName && before.status?.phase === pod.status?.phase;
      if (!same || before.metadata?.generation !== pod.metadata?.generation) note(pod);
    },
    onDelete: (pod) => ledger.remove(pod.metadata?.uid ?? ''),
  });
  return ledger;
}

const hasEnded = ({ status }: Pod): boolean => status?.phase === 'Succeeded' || status?.phase === 'Failed';

const isWaiting = (pod: Pod): boolean =>
  isActive(pod) &&
  !pod.spec?.nodeName &&
  (pod.spec?.schedulerName ?? NAME) === NAME &&
  (pod.spec?.schedulingGates ?? []).length === 0;

const keepsAway = ({ spec }: Pod): boolean =>
  (spec?.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []).length > 0;

const requestOf = (pod: Pod) => ({
  cluster: '',
  namespace: pod.metadata?.namespace,
  name: pod.metadata?.name ?? '',
});

async function assign(
  client: Client,
  pod: Pod,
  node: string,
  { ledger, events }: { ledger: NodeLedger; events: EventRecorder },
): Promise<void> {
  const { name = '', namespace, uid = '' } = pod.metadata ?? {};
  ledger.enter(uid, { node, requests: podRequests(pod) });
  try {
    await bind(client, pod, node);
    events.record(pod, 'Normal', 'Scheduled', `Successfully assigned ${namespace}/${name} to ${node}`);
  } catch (error) {
    ledger.remove(uid);
    // Gone, or bound already: the cache will tell.
    if (!isNotFound(error) && !isConflict(error)) throw error;
  }
}

async function bind(client: Client, pod: Pod, node: string): Promise<void> {
  const { name = '', namespace = '', uid = '' } = pod.metadata ?? {};
  const binding = {
    apiVersion: 'v1',
    kind: 'Binding',
    metadata: { name, namespace, uid },
    target: { apiVersion: 'v1', kind: 'Node', name: node },
  };
  await client.resource({ ...BINDINGS, resource: 'pods' }).create(binding, { name, namespace, subresource: 'binding' });
}

/** Whether that was new. */
async function sayUnschedulable(client: Client, pod: Pod, message: string, now: string): Promise<boolean> {
  const before = findCondition(pod.status?.conditions, 'PodScheduled');
  if (before?.status === 'False' && before.message === message) return false;
  const conditions = [
    ...(pod.status?.conditions ?? []).filter(({ type }) => type !== 'PodScheduled'),
    { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message, lastTransitionTime: now },
  ];
  await patchStatus(client, pod, { conditions });
  return true;
}

/** Those that made room for it are still on their way out. */
function isAwaitingRoom({ status, spec }: Pod, podsOn: (node: string) => readonly Pod[]): boolean {
  const { nominatedNodeName = '' } = status ?? {};
  return podsOn(nominatedNodeName).some(
    (pod) => pod.metadata?.deletionTimestamp !== undefined && (pod.spec?.priority ?? 0) < (spec?.priority ?? 0),
  );
}

async function preempt(
  client: Client,
  pod: Pod,
  { node, victims }: Preemption,
  { events, now }: { events: EventRecorder; now: string },
): Promise<void> {
  await patchStatus(client, pod, { nominatedNodeName: node });
  for (const victim of victims) {
    const { namespace, name = '', uid } = victim.metadata ?? {};
    const by = `Preempted by pod ${pod.metadata?.uid} on node ${node}`;
    const message = `${NAME}: preempting to accommodate a higher priority pod`;
    const target = { type: 'DisruptionTarget', status: 'True', reason: 'PreemptionByScheduler', message };
    const conditions = [...(victim.status?.conditions ?? []), { ...target, lastTransitionTime: now }];
    try {
      await patchStatus(client, victim, { conditions });
      await client.resource(PODS).delete({ namespace, name }, { preconditions: { uid } });
      events.record(victim, 'Normal', 'Preempted', by);
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }
}

async function patchStatus(client: Client, { metadata }: Pod, status: Pod['status']): Promise<void> {
  const { namespace, name = '', uid } = metadata ?? {};
  const body = { metadata: { uid }, status };
  await client.resource(PODS).patch({ namespace, name }, { type: 'merge', body }, { subresource: 'status' });
}
