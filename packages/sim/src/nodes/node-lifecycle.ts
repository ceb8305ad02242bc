import { type Client, type Clock, sleep } from '@asterism/client';
import {
  findCondition,
  formatTime,
  isConditionTrue,
  isNotFound,
  LEASES,
  type Node,
  type NodeCondition,
  NODES,
  type Pod,
  PODS,
} from '@asterism/machinery';
import { createController, type Logger, type Manager } from '@asterism/runtime';
import { NodeSilence } from './node-silence.ts';
import { rightTaints } from './node-taints.ts';

const LEASE_NAMESPACE = 'kube-node-lease';
const LOOK_MS = 20_000;
const GRACE_MS = 40_000;
const CONDITIONS = ['MemoryPressure', 'DiskPressure', 'PIDPressure', 'Ready'];

/**
 * What kube-controller-manager does about nodes: those of which nothing is heard for 40 s are marked so at the next look, with their pods; taints
 * follow from whether they are ready; pods of a node that is no more are removed after as long.
 */
export function addNodeLifecycle(manager: Manager, options: { clock: Clock; logger: Logger }): void {
  const { clock } = options;
  manager.add(
    createController({
      name: 'node-lifecycle',
      async reconcile({ name }, { cluster }) {
        const node = cluster.cache.get(NODES, { name });
        const taints = node && rightTaints(node, formatTime(clock.wall().getTime()));
        if (taints === undefined) return;
        const body = { metadata: { resourceVersion: node?.metadata?.resourceVersion }, spec: { taints } };
        await cluster.client.resource(NODES).patch({ name }, { type: 'merge', body });
      },
    }).for(NODES),
  );
  const nodes = manager.local.cache.informer(NODES);
  const pods = manager.local.cache.informer(PODS);
  manager.add({
    name: 'node-monitor',
    async run(signal) {
      const silence = new NodeSilence(GRACE_MS);
      const orphaned = new NodeSilence(GRACE_MS);
      while (!signal.aborted) {
        try {
          await Promise.all([nodes.synced(signal), pods.synced(signal)]);
          const seen = { client: manager.local.client, nodes: nodes.store.list(), pods: pods.store.list(), clock };
          await markSilent(seen, silence);
          await collectOrphans(seen, orphaned);
        } catch (error) {
          if (!signal.aborted) options.logger.warn({ err: error }, 'nodes could not be looked after');
        }
        await sleep(clock, LOOK_MS, signal).catch(() => {});
      }
    },
  });
}

interface Seen {
  client: Client;
  nodes: readonly Node[];
  pods: readonly Pod[];
  clock: Clock;
}

async function markSilent({ client, nodes, pods, clock }: Seen, silence: NodeSilence): Promise<void> {
  const leases = await client.resource(LEASES).list({ namespace: LEASE_NAMESPACE });
  const renewed = new Map(leases.items.map(({ metadata, spec }) => [metadata?.name ?? '', String(spec?.renewTime)]));
  silence.keep(new Set(nodes.map(({ metadata }) => metadata?.name ?? '')));
  for (const node of nodes) {
    const name = node.metadata?.name ?? '';
    const sign = `${renewed.get(name)} ${findCondition(node.status?.conditions, 'Ready')?.lastHeartbeatTime}`;
    if (!silence.isSilent(name, sign, clock.monotonic())) continue;
    if (findCondition(node.status?.conditions, 'Ready')?.status === 'Unknown') continue;
    const conditions = unknownConditions(node, formatTime(clock.wall().getTime()));
    await client
      .resource(NODES)
      .patch({ name }, { type: 'merge', body: { status: { conditions } } }, { subresource: 'status' });
    for (const pod of pods.filter(({ spec }) => spec?.nodeName === name)) await markNotReady(client, pod, clock);
  }
}

function unknownConditions(node: Node, now: string): NodeCondition[] {
  const present = node.status?.conditions ?? [];
  const unknown = CONDITIONS.map((type): NodeCondition => {
    const before = findCondition(present, type);
    const [reason, message] = before
      ? ['NodeStatusUnknown', 'Kubelet stopped posting node status.']
      : ['NodeStatusNeverUpdated', 'Kubelet never posted node status.'];
    const heartbeat = before?.lastHeartbeatTime ?? node.metadata?.creationTimestamp ?? now;
    return { type, status: 'Unknown', reason, message, lastHeartbeatTime: heartbeat, lastTransitionTime: now };
  });
  return [...present.filter(({ type }) => !CONDITIONS.includes(type)), ...unknown];
}

/** Nobody sends anything to a pod of which nothing is known. */
async function markNotReady(client: Client, pod: Pod, clock: Clock): Promise<void> {
  const { name = '', namespace, uid } = pod.metadata ?? {};
  const present = pod.status?.conditions ?? [];
  if (!isConditionTrue(present, 'Ready')) return;
  const now = formatTime(clock.wall().getTime());
  const conditions = present.map((each) =>
    each.type === 'Ready' ? { ...each, status: 'False', lastTransitionTime: now } : each,
  );
  const body = { metadata: { uid }, status: { conditions } };
  await client
    .resource(PODS)
    .patch({ namespace, name }, { type: 'merge', body }, { subresource: 'status' })
    .catch(unlessGone);
}

async function collectOrphans({ client, nodes, pods, clock }: Seen, orphaned: NodeSilence): Promise<void> {
  const names = new Set(nodes.map(({ metadata }) => metadata?.name));
  const lost = pods.filter(({ spec }) => spec?.nodeName && !names.has(spec.nodeName));
  orphaned.keep(new Set(lost.map(({ metadata }) => metadata?.uid ?? '')));
  for (const { metadata } of lost) {
    const { name = '', namespace, uid = '' } = metadata ?? {};
    if (!orphaned.isSilent(uid, '', clock.monotonic())) continue;
    const now = { gracePeriodSeconds: 0, preconditions: { uid } };
    await client.resource(PODS).delete({ namespace, name }, now).catch(unlessGone);
  }
}

function unlessGone(error: unknown): void {
  if (!isNotFound(error)) throw error;
}
