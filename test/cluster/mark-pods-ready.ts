import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '@asterism/client';
import {
  isAlreadyExists,
  isConditionTrue,
  isConflict,
  isNotFound,
  type KubeObject,
  LEASES,
  NODES,
  type Pod,
  PODS,
} from '@asterism/machinery';
import { Knocker, systemClock, watchResource } from '@asterism/runtime';

export interface MarkPodsReadyOptions {
  /** Of a control plane without nodes and scheduler, as its administrator. */
  client: Client;
  /** The Node that it makes, and that pods are bound to. */
  node: string;
  /**
   * A scheduler binds pods, and this tends those of its own Node alone: a pod that is not always restarted ends well at once.
   * Default false.
   */
  scheduled?: boolean;
}

/**
 * Does in a control plane without nodes what a scheduler and a kubelet do to objects: keeps a Node Ready, binds pods to it, writes
 * that they run and are ready, and lets deleted ones go. Nothing really runs. Goes on through any failure of the API server
 * until it is disposed of.
 */
export function markPodsReady(options: MarkPodsReadyOptions): AsyncDisposable {
  const stop = new AbortController();
  const { signal } = stop;
  const pretence = new Pretence(options, signal);
  const work = Promise.all([pretence.keepNode(), pretence.tendPods()]).catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });
  return {
    async [Symbol.asyncDispose]() {
      stop.abort();
      await work;
    },
  };
}

const LEASE_MS = 5_000;
const RETRY_MS = 250;

class Pretence {
  readonly #client: Client;
  readonly #node: string;
  readonly #scheduled: boolean;
  readonly #signal: AbortSignal;
  #pods = 0;

  constructor({ client, node, scheduled = false }: MarkPodsReadyOptions, signal: AbortSignal) {
    this.#client = client;
    this.#node = node;
    this.#scheduled = scheduled;
    this.#signal = signal;
  }

  /** As a kubelet: the Node once, and its Lease again and again, so that nobody takes the node for lost. */
  async keepNode(): Promise<void> {
    const namespace = 'kube-node-lease';
    while (!this.#signal.aborted) {
      await this.#patiently(async (signal) => {
        await this.#ensureNode(signal);
        const renewTime = new Date().toISOString().replace('Z', '000Z');
        await this.#client.resource(LEASES).apply(
          {
            apiVersion: 'coordination.k8s.io/v1',
            kind: 'Lease',
            metadata: { name: this.#node, namespace },
            spec: { holderIdentity: this.#node, leaseDurationSeconds: 40, renewTime },
          },
          { fieldManager: 'kubelet', force: true, signal },
        );
      });
      await delay(LEASE_MS, undefined, { signal: this.#signal });
    }
  }

  async #ensureNode(signal: AbortSignal): Promise<void> {
    const nodes = this.#client.resource(NODES);
    const ref = { name: this.#node };
    const live = await nodes.get(ref, { signal }).catch((error: unknown) => {
      if (!isNotFound(error)) throw error;
      const labels = { 'kubernetes.io/hostname': this.#node, 'kubernetes.io/os': 'linux' };
      return nodes.create({ apiVersion: 'v1', kind: 'Node', metadata: { ...ref, labels } }, { signal });
    });
    if (isConditionTrue(live.status?.conditions, 'Ready')) return;
    const now = new Date().toISOString();
    const ready = { type: 'Ready', status: 'True', reason: 'KubeletReady', lastHeartbeatTime: now };
    const resources = { cpu: '16', memory: '64Gi', pods: '110' };
    const status = { capacity: resources, allocatable: resources, conditions: [{ ...ready, lastTransitionTime: now }] };
    await nodes.patch(ref, { type: 'strategic', body: { status } }, { subresource: 'status', signal });
  }

  async tendPods(): Promise<void> {
    const knocker = new Knocker({ client: () => this.#client, clock: systemClock, random: Math.random });
    const source = {
      client: this.#client.resource(PODS),
      answersAgain: (signal: AbortSignal) => knocker.answersAgain(signal),
    };
    for await (const event of watchResource(() => source, { signal: this.#signal })) {
      if (event.type === 'InitApply' || event.type === 'Apply') {
        await this.#patiently((signal) => this.#tend(event.object, signal));
      }
    }
  }

  async #tend(pod: Pod, signal: AbortSignal): Promise<void> {
    const pods = this.#client.resource(PODS);
    const { name = '', namespace, uid } = pod.metadata ?? {};
    const ref = { namespace, name };
    if (this.#scheduled && pod.spec?.nodeName !== this.#node) return;
    if (pod.metadata?.deletionTimestamp !== undefined) {
      await pods.delete(ref, { gracePeriodSeconds: 0, preconditions: { uid }, signal });
    } else if (!pod.spec?.nodeName) {
      const binding: KubeObject = {
        apiVersion: 'v1',
        kind: 'Binding',
        metadata: { name, namespace },
        target: { apiVersion: 'v1', kind: 'Node', name: this.#node },
      };
      await pods.create(binding, { name, subresource: 'binding', signal });
    } else if (this.#scheduled && pod.spec.restartPolicy !== 'Always') {
      await pods.patch(ref, { type: 'strategic', body: this.#ended(pod) }, { subresource: 'status', signal });
    } else if (!isConditionTrue(pod.status?.conditions, 'Ready')) {
      await pods.patch(ref, { type: 'strategic', body: this.#running(pod) }, { subresource: 'status', signal });
    }
  }

  #running({ metadata, spec, status }: Pod): object {
    const now = new Date().toISOString();
    this.#pods += 1;
    const podIP = status?.podIP ?? `198.18.${subnetOf(this.#node)}.${1 + (this.#pods % 250)}`;
    const conditions = ['Initialized', 'Ready', 'ContainersReady', 'PodScheduled'].map((type) => ({
      type,
      status: 'True',
      lastTransitionTime: now,
    }));
    const containerStatuses = (spec?.containers ?? []).map(({ name, image }) => ({
      name,
      image,
      imageID: `${image}@sha256:${'0'.repeat(64)}`,
      containerID: `containerd://${metadata?.uid ?? ''}-${name}`,
      ready: true,
      started: true,
      restartCount: 0,
      state: { running: { startedAt: now } },
    }));
    return {
      metadata: { uid: metadata?.uid },
      status: {
        phase: 'Running',
        hostIP: '203.0.113.254',
        podIP,
        podIPs: [{ ip: podIP }],
        startTime: status?.startTime ?? now,
        conditions,
        containerStatuses,
      },
    };
  }

  #ended({ metadata, status }: Pod): object {
    const startTime = status?.startTime ?? new Date().toISOString();
    return { metadata: { uid: metadata?.uid }, status: { phase: 'Succeeded', startTime } };
  }

  /** Until it was done. What the object's own next event settles is done. */
  async #patiently(act: (signal: AbortSignal) => Promise<void>): Promise<void> {
    for (;;) {
      try {
        await act(AbortSignal.any([this.#signal, AbortSignal.timeout(5_000)]));
        return;
      } catch (error) {
        this.#signal.throwIfAborted();
        if (isNotFound(error) || isConflict(error) || isAlreadyExists(error)) return;
        await delay(RETRY_MS, undefined, { signal: this.#signal });
      }
    }
  }
}

/** Pods of two nodes have two addresses: controllers take one address for one endpoint. */
function subnetOf(node: string): number {
  return Buffer.from(node).reduce((sum, byte) => (sum * 31 + byte) % 251, 0);
}
