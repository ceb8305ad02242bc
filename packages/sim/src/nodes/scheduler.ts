import type { Client, Clock } from '@asterism/client';
import { BINDINGS, findCondition, isConflict, isNotFound, NODES, type Pod, PODS } from '@asterism/machinery';
import { createController, type Manager } from '@asterism/runtime';
import { timestamp } from '../timestamp.ts';
import { isActive } from '../workloads/pod-state.ts';
import { chooseNode } from './choose-node.ts';
import { add, NOTHING, podRequests, type Resources } from './pod-requests.ts';

const BY_NODE = 'node';

/**
 * Binds pods to nodes, one at a time, so that no two are given the same room. What was just bound is remembered until the
 * cache shows it.
 */
export function addScheduler(manager: Manager, clock: Clock): void {
  const { cache } = manager.local;
  const pods = cache.informer(PODS);
  pods.addIndex(BY_NODE, (pod) => (isActive(pod) && pod.spec?.nodeName ? [pod.spec.nodeName] : []));
  const assumed = new Map<string, { node: string; requests: Resources }>();
  const used = (node: string): Resources => {
    const bound = pods.store.byIndex(BY_NODE, node);
    for (const pod of bound) assumed.delete(pod.metadata?.uid ?? '');
    const soon = [...assumed.values()].filter((pod) => pod.node === node).map(({ requests }) => requests);
    return [...bound.map(podRequests), ...soon].reduce(add, NOTHING);
  };
  manager.add(
    createController({
      name: 'scheduler',
      async reconcile({ namespace, name }, { cluster }) {
        const pod = cluster.cache.get(PODS, { namespace, name });
        if (pod === undefined || !isActive(pod) || pod.spec?.nodeName || assumed.has(pod.metadata?.uid ?? '')) return;
        const choice = chooseNode(pod, cluster.cache.list(NODES), used);
        if (choice.node === undefined) {
          await sayUnschedulable(cluster.client, pod, choice.message, timestamp(clock.now()));
          return;
        }
        const uid = pod.metadata?.uid ?? '';
        assumed.set(uid, { node: choice.node, requests: podRequests(pod) });
        try {
          await bind(cluster.client, pod, choice.node);
        } catch (error) {
          assumed.delete(uid);
          // Gone, or bound already: the cache will tell.
          if (!isNotFound(error) && !isConflict(error)) throw error;
        }
      },
    })
      .for(PODS)
      .watches(NODES, () => pods.store.list().filter(isWaiting).map(requestOf))
      .watches(PODS, (pod) => (isActive(pod) ? [] : pods.store.list().filter(isWaiting).map(requestOf))),
  );
}

const isWaiting = (pod: Pod): boolean => isActive(pod) && !pod.spec?.nodeName;

const requestOf = (pod: Pod) => ({
  cluster: '',
  namespace: pod.metadata?.namespace,
  name: pod.metadata?.name ?? '',
});

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

async function sayUnschedulable(client: Client, pod: Pod, message: string, now: string): Promise<void> {
  const before = findCondition(pod.status?.conditions, 'PodScheduled');
  if (before?.status === 'False' && before.message === message) return;
  const conditions = [
    ...(pod.status?.conditions ?? []).filter(({ type }) => type !== 'PodScheduled'),
    { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message, lastTransitionTime: now },
  ];
  const body = { status: { conditions } };
  const { name = '', namespace } = pod.metadata ?? {};
  await client.resource(PODS).patch({ namespace, name }, { type: 'merge', body }, { subresource: 'status' });
}
