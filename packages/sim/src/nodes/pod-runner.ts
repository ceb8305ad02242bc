import type { Client, Clock } from '@asterism/client';
import {
  CONFIG_MAPS,
  deepEqual,
  isConflict,
  isNotFound,
  type Pod,
  PODS,
  type PodStatus,
  SECRETS,
} from '@asterism/machinery';
import { createController, type Manager, type Result } from '@asterism/runtime';
import { timestamp } from '../timestamp.ts';
import { PodAddresses } from './pod-addresses.ts';
import { type Mount, requiredMounts } from './pod-mounts.ts';
import { runningStatus, waitingStatus } from './pod-status.ts';
import { type NodeShape, podRange } from './node-shape.ts';

export interface PodRunnerOptions {
  clock: Clock;
  /** How long a pod takes from being bound to being ready, in ms. */
  startMs: number;
  /** How long a pod takes to stop, in ms; its own grace period if that is less. */
  stopMs: number;
}

const RETRY_MOUNT_MS = 1000;

/** The kubelets of all nodes of a member: starts what is bound to them, stops what is deleted. Containers are only told of. */
export function addPodRunner(manager: Manager, shapes: readonly NodeShape[], options: PodRunnerOptions): void {
  const { clock } = options;
  const nodes = new Map(
    shapes.map(({ name }, index) => [
      name,
      { addresses: new PodAddresses(podRange(index)), host: `192.0.2.${(index % 250) + 1}` },
    ]),
  );
  keepAddresses(manager, (name) => nodes.get(name)?.addresses);
  manager.add(
    createController({
      name: 'pod-runner',
      concurrency: 8,
      async reconcile({ namespace, name }, { cluster }) {
        const pod = cluster.cache.get(PODS, { namespace, name });
        const node = nodes.get(pod?.spec?.nodeName ?? '');
        if (pod === undefined || node === undefined) return;
        if (pod.metadata?.deletionTimestamp !== undefined) {
          const left = stopsAt(pod, options) - clock.now();
          if (left > 0) return { requeueAfter: left };
          await finish(cluster.client, pod);
          return;
        }
        if (pod.status?.phase !== undefined && pod.status.phase !== 'Pending') return;
        return await start(cluster.client, pod, node, options);
      },
    }).for(PODS),
  );
}

/** An address belongs to its pod from before the first new one is given until the pod's object is gone, whoever deletes it. */
function keepAddresses(manager: Manager, addressesOf: (node: string) => PodAddresses | undefined): void {
  const hold = (pod: Pod): void => {
    if (pod.status?.podIP) addressesOf(pod.spec?.nodeName ?? '')?.take(pod.metadata?.uid ?? '', pod.status.podIP);
  };
  manager.local.cache.informer(PODS).addHandler({
    onAdd: hold,
    onUpdate: (_, pod) => hold(pod),
    onDelete: (pod) => addressesOf(pod.spec?.nodeName ?? '')?.release(pod.metadata?.uid ?? ''),
  });
}

/** When a deleted pod is gone: after its grace period, which no simulated process needs the whole of. */
function stopsAt(pod: Pod, { stopMs }: PodRunnerOptions): number {
  const graceMs = (pod.metadata?.deletionGracePeriodSeconds ?? 0) * 1000;
  const deletedAt = Date.parse(pod.metadata?.deletionTimestamp ?? '') - graceMs;
  return deletedAt + Math.min(graceMs, stopMs);
}

async function finish(client: Client, pod: Pod): Promise<void> {
  const { name = '', namespace, uid } = pod.metadata ?? {};
  try {
    await client.resource(PODS).delete({ namespace, name }, { gracePeriodSeconds: 0, preconditions: { uid } });
  } catch (error) {
    if (!isNotFound(error) && !isConflict(error)) throw error;
  }
}

async function start(
  client: Client,
  pod: Pod,
  node: { addresses: PodAddresses; host: string },
  { clock, startMs }: PodRunnerOptions,
): Promise<Result | void> {
  const now = timestamp(clock.now());
  for (const mount of requiredMounts(pod)) {
    if (await exists(client, pod.metadata?.namespace, mount)) continue;
    if (pod.status?.containerStatuses === undefined) await writeStatus(client, pod, waitingStatus(pod, node.host, now));
    return { requeueAfter: RETRY_MOUNT_MS };
  }
  const left = boundAt(pod, clock.now()) + startMs - clock.now();
  if (left > 0) return { requeueAfter: left };
  const address = node.addresses.take(pod.metadata?.uid ?? '');
  if (address !== undefined) await writeStatus(client, pod, runningStatus(pod, address, node.host, now));
}

function boundAt(pod: Pod, now: number): number {
  const bound = Date.parse(pod.metadata?.creationTimestamp ?? '');
  return Number.isNaN(bound) ? now : bound;
}

async function exists(client: Client, namespace: string | undefined, { kind, name }: Mount): Promise<boolean> {
  try {
    await client.resource<ConfigMapOrSecret>(kind === 'ConfigMap' ? CONFIG_MAPS : SECRETS).get({ namespace, name });
    return true;
  } catch (error) {
    if (isNotFound(error)) return false;
    throw error;
  }
}

type ConfigMapOrSecret = NonNullable<(typeof CONFIG_MAPS)['shape']> & NonNullable<(typeof SECRETS)['shape']>;

async function writeStatus(client: Client, pod: Pod, status: PodStatus): Promise<void> {
  if (deepEqual(status, pod.status)) return;
  const { name = '', namespace, uid } = pod.metadata ?? {};
  const body = { metadata: { uid }, status };
  await client.resource(PODS).patch({ namespace, name }, { type: 'merge', body }, { subresource: 'status' });
}
