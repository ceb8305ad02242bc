import { type Client, type Clock, sleep } from '@asterism/client';
import {
  deepEqual,
  formatMicroTime,
  formatTime,
  isAlreadyExists,
  isConditionTrue,
  isNotFound,
  type Lease,
  LEASES,
  type Node,
  NODES,
} from '@asterism/machinery';
import type { Logger, Manager } from '@asterism/runtime';
import { hasFailed } from './node-failure.ts';
import { healthyConditions, type KubeletIdentity, type NodeShape, nodeObject } from './node-shape.ts';

const LEASE_NAMESPACE = 'kube-node-lease';
/** A kubelet renews four times as often as it must; where thousands of nodes share a process, once in time has to do. */
const RENEW_MS = 25_000;
const RETRY_MS = 5_000;
const LEASE_SECONDS = 40;

export interface HeartbeatOptions {
  clock: Clock;
  kubeletVersion: string;
  /** Where the kubelet of a node is reached, if it is. */
  endpointOf?: ((node: string) => KubeletIdentity['endpoint']) | undefined;
  logger: Logger;
}

/**
 * Registers the member's machines and renews their Leases, as so many kubelets would: one that is not heard tries again at its
 * next beat.
 */
export function addNodeHeartbeat(manager: Manager, shapes: readonly NodeShape[], options: HeartbeatOptions): void {
  const { clock, kubeletVersion, endpointOf, logger } = options;
  const objectOf = (shape: NodeShape, index: number): Node =>
    nodeObject(shape, index, { version: kubeletVersion, endpoint: endpointOf?.(shape.name) });
  const nodes = manager.local.cache.informer(NODES);
  let wake = new AbortController();
  nodes.addHandler({
    onUpdate: (before, after) => {
      if (hasFailed(before) && !hasFailed(after)) wake.abort();
    },
  });
  /** A machine that has started again is heard of at once. */
  const untilNextBeat = async (ms: number, signal: AbortSignal): Promise<void> => {
    wake = new AbortController();
    await sleep(clock, ms, AbortSignal.any([signal, wake.signal])).catch(() => {});
  };
  const beat = async (shape: NodeShape, index: number): Promise<void> => {
    const node = nodes.store.get(shape.name);
    if (hasFailed(node)) return;
    const { client } = manager.local;
    await renewLease(client, shape.name, clock);
    if (node && !isConditionTrue(node.status?.conditions, 'Ready'))
      await register(client, objectOf(shape, index), clock);
  };
  manager.add({
    name: 'node-heartbeat',
    async run(signal) {
      const { client } = manager.local;
      for (const [index, shape] of shapes.entries()) await register(client, objectOf(shape, index), clock);
      let heard = true;
      while (!signal.aborted) {
        const beats = await Promise.allSettled(shapes.map((shape, index) => beat(shape, index)));
        const missed = beats.find((beat) => beat.status === 'rejected');
        // Once for each silence, however long it is.
        if (missed && heard) logger.warn({ err: missed.reason as unknown }, 'the heartbeat of nodes is not heard');
        heard = missed === undefined;
        await untilNextBeat(heard ? RENEW_MS : RETRY_MS, signal);
      }
    },
  });
}

/** Makes the node if it is missing, and sets it ready if it is not; a node that is well is left alone. */
async function register(client: Client, node: Node, clock: Clock): Promise<void> {
  const nodes = client.resource(NODES);
  const name = node.metadata?.name ?? '';
  const existing = await nodes.get({ name }).catch(async (error: unknown) => {
    if (!isNotFound(error)) throw error;
    return await nodes.create(node);
  });
  const isReached = deepEqual(node.status?.daemonEndpoints, existing.status?.daemonEndpoints);
  if (hasFailed(existing) || (isReached && isConditionTrue(existing.status?.conditions, 'Ready'))) return;
  const conditions = healthyConditions(formatTime(clock.wall().getTime()));
  await nodes.patch(
    { name },
    { type: 'merge', body: { status: { ...node.status, conditions } } },
    { subresource: 'status' },
  );
}

async function renewLease(client: Client, name: string, clock: Clock): Promise<void> {
  const leases = client.resource(LEASES);
  const renewTime = formatMicroTime(clock.wall().getTime());
  const body = { spec: { renewTime } };
  try {
    await leases.patch({ namespace: LEASE_NAMESPACE, name }, { type: 'merge', body });
  } catch (error) {
    if (!isNotFound(error)) throw error;
    const lease: Lease = {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { name, namespace: LEASE_NAMESPACE },
      spec: { holderIdentity: name, leaseDurationSeconds: LEASE_SECONDS, renewTime },
    };
    await leases.create(lease).catch((failure: unknown) => {
      if (!isAlreadyExists(failure)) throw failure;
    });
  }
}
