import type { Clock } from '@asterism/client';
import { formatTime, isNotFound, type Node, NODES, type Pod, PODS } from '@asterism/machinery';
import { createController, type Manager } from '@asterism/runtime';
import { createEventRecorder } from '../workloads/event-recorder.ts';
import { evictionTime } from './eviction-time.ts';

/** Deletes the pods that do not tolerate, or no longer, a `NoExecute` taint of their node. */
export function addTaintEviction(manager: Manager, clock: Clock): void {
  const { cache } = manager.local;
  const nodes = cache.informer(NODES);
  const pods = cache.informer(PODS);
  const events = createEventRecorder(manager.local.client, 'taint-eviction-controller', clock);
  manager.add(
    createController({
      name: 'taint-eviction',
      async reconcile({ namespace, name }, { cluster }) {
        const pod = cluster.cache.get(PODS, { namespace, name });
        const taints = nodes.store.get(pod?.spec?.nodeName ?? '')?.spec?.taints ?? [];
        if (!pod || pod.metadata?.deletionTimestamp !== undefined) return;
        const at = evictionTime(taints, pod.spec?.tolerations ?? [], clock.wall().getTime());
        if (at === undefined) return;
        if (at > clock.wall().getTime()) return { requeueAfter: at - clock.wall().getTime() };
        events.record(pod, 'Normal', 'TaintManagerEviction', `Marking for deletion Pod ${namespace}/${name}`);
        await evict(cluster.client, pod, formatTime(clock.wall().getTime()));
      },
    })
      .watches(NODES, (node) => (isTainted(node) ? pods.store.list().filter(isOn(node)).map(requestOf) : []))
      .watches(PODS, (pod) => (isTainted(nodes.store.get(pod.spec?.nodeName ?? '')) ? [requestOf(pod)] : [])),
  );
}

const isTainted = (node: Node | undefined): boolean =>
  node?.spec?.taints?.some(({ effect }) => effect === 'NoExecute') === true;

const isOn =
  (node: Node) =>
  (pod: Pod): boolean =>
    pod.spec?.nodeName === node.metadata?.name;

const requestOf = ({ metadata }: Pod) => ({ cluster: '', namespace: metadata?.namespace, name: metadata?.name ?? '' });

async function evict(client: Manager['local']['client'], pod: Pod, now: string): Promise<void> {
  const { namespace, name = '', uid, resourceVersion } = pod.metadata ?? {};
  const target = {
    type: 'DisruptionTarget',
    status: 'True',
    reason: 'DeletionByTaintManager',
    message: 'Taint manager: deleting due to NoExecute taint',
    lastTransitionTime: now,
  };
  const others = (pod.status?.conditions ?? []).filter(({ type }) => type !== target.type);
  const body = { metadata: { uid, resourceVersion }, status: { conditions: [...others, target] } };
  try {
    await client.resource(PODS).patch({ namespace, name }, { type: 'merge', body }, { subresource: 'status' });
    await client.resource(PODS).delete({ namespace, name }, { preconditions: { uid } });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}
