import { type Client, type Clock, sleep } from '@asterism/client';
import {
  isAlreadyExists,
  isConditionTrue,
  isNotFound,
  type Lease,
  LEASES,
  type Node,
  NODES,
} from '@asterism/machinery';
import type { Logger, Manager } from '@asterism/runtime';
import { timestamp } from '../timestamp.ts';
import { healthyConditions, type NodeShape, nodeObject } from './node-shape.ts';

const LEASE_NAMESPACE = 'kube-node-lease';
const RENEW_MS = 10_000;
const LEASE_SECONDS = 40;

/**
 * Registers the member's machines and renews their Leases, as so many kubelets would: one that is not heard tries again at its
 * next beat.
 */
export function addNodeHeartbeat(
  manager: Manager,
  shapes: readonly NodeShape[],
  options: { clock: Clock; kubeletVersion: string; logger: Logger },
): void {
  const { clock, kubeletVersion, logger } = options;
  manager.add({
    name: 'node-heartbeat',
    async run(signal) {
      const { client } = manager.local;
      for (const [index, shape] of shapes.entries())
        await register(client, nodeObject(shape, index, kubeletVersion), clock);
      let heard = true;
      while (!signal.aborted) {
        const beats = await Promise.allSettled(shapes.map(({ name }) => renewLease(client, name, clock)));
        const missed = beats.find((beat) => beat.status === 'rejected');
        // Once for each silence, however long it is.
        if (missed && heard) logger.warn({ err: missed.reason as unknown }, 'the heartbeat of nodes is not heard');
        heard = missed === undefined;
        await sleep(clock, RENEW_MS, signal).catch(() => {});
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
  if (isConditionTrue(existing.status?.conditions, 'Ready')) return;
  const conditions = healthyConditions(timestamp(clock.now()));
  await nodes.patch(
    { name },
    { type: 'merge', body: { status: { ...node.status, conditions } } },
    { subresource: 'status' },
  );
}

async function renewLease(client: Client, name: string, clock: Clock): Promise<void> {
  const leases = client.resource(LEASES);
  const renewTime = microTime(clock.now());
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

/** `metav1.MicroTime`: six digits of a second. */
function microTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace('Z', '000Z');
}
