import type { Client } from '@asterism/client';
import { markPodsReady } from '../cluster/mark-pods-ready.ts';
import { UNSTEADY_NODES } from './churn-objects.ts';

const STEADY_NODES = ['node-0', 'node-1', 'node-2', 'node-3', 'node-4'];

/** The nodes of a churned cluster: what a kubelet does to objects, without pods that run. */
export class SimulatedNodes implements AsyncDisposable {
  readonly #client: Client;
  readonly #kubelets = new Map<string, AsyncDisposable>();

  constructor(client: Client) {
    this.#client = client;
    for (const node of [...STEADY_NODES, ...UNSTEADY_NODES]) this.start(node);
  }

  start(node: string): void {
    this.#kubelets.set(node, markPodsReady({ client: this.#client, node, scheduled: true }));
  }

  /** Its Lease is no longer renewed, and nobody tends its pods. */
  async stop(node: string): Promise<void> {
    const kubelet = this.#kubelets.get(node);
    this.#kubelets.delete(node);
    await kubelet?.[Symbol.asyncDispose]();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#kubelets.values()].map((kubelet) => kubelet[Symbol.asyncDispose]()));
  }
}
