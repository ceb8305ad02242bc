import type { Client, Clock } from '@asterism/client';
import { deepEqual, isConflict, isNotFound, NODES, type Pod, PODS, type PodStatus } from '@asterism/machinery';
import { createController, type Enqueue, type Manager, type Result } from '@asterism/runtime';
import { createContainerRuntime } from '../machine/create-container-runtime.ts';
import type { NodeBackend } from '../machine/container-runtime.ts';
import { createEventRecorder } from '../workloads/event-recorder.ts';
import type { MetricsSource } from './metrics-extension.ts';
import { hasFailed } from './node-failure.ts';
import type { NodeShape } from './node-shape.ts';
import { PodAddresses } from './pod-addresses.ts';
import { createPodBackend, unreachableBackend } from './pod-backend.ts';
import { ObjectSource } from './pod-life/object-source.ts';
import { PodLife } from './pod-life/pod-life.ts';
import type { PodHost, PodWorld } from './pod-life/pod-world.ts';
import { requestToken } from './pod-life/request-token.ts';
import { nodeAddress, podRange } from './node-shape.ts';

export interface PodRunnerOptions {
  clock: Clock;
  /** How long a pod takes from being bound to its containers' start, in ms. */
  startMs: number;
  /** How long a deleted pod is there at least, in ms; its own grace period if that is less. */
  stopMs: number;
}

/** What the kubelets of a member's nodes know of their containers. */
export interface PodRunner {
  /** Undefined for a node that is not of this member. */
  backendOf(node: string): NodeBackend | undefined;
  /** The pods that are bound to a node. */
  podsOf(node: string): readonly Pod[];
  /** What all that runs uses. */
  metrics: MetricsSource;
}

interface Machine extends PodHost {
  addresses: PodAddresses;
}

const BY_NODE = 'node, ended or not';

/** The kubelets of all nodes of a member: they run what is bound to them, and tell how it goes. */
export function addPodRunner(manager: Manager, shapes: readonly NodeShape[], options: PodRunnerOptions): PodRunner {
  const machines = new Map(shapes.map((shape, index) => [shape.name, machineOf(shape, index)]));
  const { cache } = manager.local;
  const pods = cache.informer(PODS);
  pods.addIndex(BY_NODE, (pod) => (pod.spec?.nodeName ? [pod.spec.nodeName] : []));
  const nodes = cache.informer(NODES);
  keepAddresses(manager, (name) => machines.get(name)?.addresses);
  const world = createWorld(manager, options);
  const lives = new Map<string, PodLife>();
  let enqueue: Enqueue | undefined;

  const forget = (key: string): void => {
    lives.get(key)?.dispose();
    lives.delete(key);
  };
  const begin = (key: string, pod: Pod, machine: Machine): PodLife => {
    const { namespace, name = '' } = pod.metadata ?? {};
    const life = new PodLife(world, machine, pod, () => enqueue?.({ cluster: '', namespace, name }));
    lives.set(key, life);
    return life;
  };
  const reconcile = async (client: Client, key: string, pod: Pod | undefined): Promise<Result | void> => {
    const nodeName = pod?.spec?.nodeName ?? '';
    const machine = machines.get(nodeName);
    const down = hasFailed(nodes.store.get(nodeName));
    if (lives.get(key)?.uid !== pod?.metadata?.uid || down) forget(key);
    if (!pod || !machine || down) return;
    const life = lives.get(key) ?? (isOver(pod) ? undefined : begin(key, pod, machine));
    // Nothing runs of it: it ended, or it was deleted, before the member started.
    if (!life) return pod.metadata?.deletionTimestamp === undefined ? undefined : await remove(client, pod);
    const { after, quiet, gone } = await life.sync(pod);
    const waited = gone && (pod.metadata?.finalizers ?? []).length > 0;
    if (waited || (!quiet && !gone)) await writeStatus(client, pod, life.status());
    if (gone) return await remove(client, pod);
    return { requeueAfter: after };
  };
  manager.add(
    createController({
      name: 'pod-runner',
      concurrency: 16,
      concurrencyPerCluster: 16,
      reconcile: async ({ namespace, name }, { cluster }) =>
        await reconcile(cluster.client, `${namespace}/${name}`, cluster.cache.get(PODS, { namespace, name })),
    })
      .for(PODS)
      .watches(NODES, ({ metadata }) => pods.store.byIndex(BY_NODE, metadata?.name ?? '').map(requestOf), {
        predicates: [{ create: () => false, update: (a, b) => hasFailed(a) !== hasFailed(b), delete: () => false }],
      })
      .source((ask, signal) => {
        enqueue = ask;
        signal.addEventListener('abort', () => [...lives.keys()].forEach(forget), { once: true });
      }),
  );
  const backend = createPodBackend(world.runtime, ({ namespace, pod }) => lives.get(`${namespace}/${pod}`));
  const isDown = (node: string): boolean => hasFailed(nodes.store.get(node));
  return {
    podsOf: (node) => pods.store.byIndex(BY_NODE, node),
    metrics: {
      nodes: () => nodes.store.list(),
      pods: () => pods.store.list(),
      stats: () => backend.stats(),
      isHeard: (node) => machines.has(node) && !isDown(node),
      now: () => options.clock.wall().getTime(),
    },
    backendOf: (node) => {
      const machine = machines.get(node);
      return machine && isDown(node) ? unreachableBackend(machine.hostIP) : machine && backend;
    },
  };
}

function machineOf({ cpu, memory, pods }: NodeShape, index: number): Machine {
  const addresses = new PodAddresses(podRange(index));
  return {
    addresses,
    hostIP: nodeAddress(index),
    allocatable: { cpu, memory, pods: String(pods) },
    takeAddress: (pod) => addresses.take(pod.metadata?.uid ?? ''),
  };
}

function createWorld(manager: Manager, { clock, startMs, stopMs }: PodRunnerOptions): PodWorld {
  const events = createEventRecorder(manager.local.client, 'kubelet', clock);
  return {
    clock,
    startMs,
    stopMs,
    runtime: createContainerRuntime({ clock }),
    objects: new ObjectSource(() => manager.local.client, clock),
    token: (pod, projection) => requestToken(manager.local.client, pod, projection),
    event: (pod, { type, reason, message, container }) =>
      events.record(pod, type, reason, message, {
        host: pod.spec?.nodeName,
        fieldPath: container === undefined ? undefined : fieldPath(pod, container),
      }),
  };
}

function fieldPath({ spec }: Pod, container: string): string {
  const has = (list: readonly { name: string }[] = []): boolean => list.some(({ name }) => name === container);
  const list = has(spec?.containers)
    ? 'containers'
    : has(spec?.initContainers)
      ? 'initContainers'
      : 'ephemeralContainers';
  return `spec.${list}{${container}}`;
}

const requestOf = ({ metadata }: Pod) => ({ cluster: '', namespace: metadata?.namespace, name: metadata?.name ?? '' });

/** An address belongs to its pod from before the first new one is given until the pod's object is gone, whoever deletes it. */
function keepAddresses(manager: Manager, addressesOf: (node: string) => PodAddresses | undefined): void {
  const hold = (pod: Pod): void => {
    if (pod.status?.podIP && !pod.spec?.hostNetwork)
      addressesOf(pod.spec?.nodeName ?? '')?.take(pod.metadata?.uid ?? '', pod.status.podIP);
  };
  manager.local.cache.informer(PODS).addHandler({
    onAdd: hold,
    onUpdate: (_, pod) => hold(pod),
    onDelete: (pod) => addressesOf(pod.spec?.nodeName ?? '')?.release(pod.metadata?.uid ?? ''),
  });
}

function isOver({ metadata, status }: Pod): boolean {
  return metadata?.deletionTimestamp !== undefined || status?.phase === 'Succeeded' || status?.phase === 'Failed';
}

async function remove(client: Client, pod: Pod): Promise<void> {
  const { name = '', namespace, uid } = pod.metadata ?? {};
  try {
    await client.resource(PODS).delete({ namespace, name }, { gracePeriodSeconds: 0, preconditions: { uid } });
  } catch (error) {
    if (!isNotFound(error) && !isConflict(error)) throw error;
  }
}

async function writeStatus(client: Client, pod: Pod, status: PodStatus): Promise<void> {
  if (deepEqual(status, pod.status)) return;
  const { name = '', namespace, uid, resourceVersion } = pod.metadata ?? {};
  // Conditions of others are in the list: it is written over what was seen alone.
  const body = { metadata: { uid, resourceVersion }, status };
  try {
    await client.resource(PODS).patch({ namespace, name }, { type: 'merge', body }, { subresource: 'status' });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}
