import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '@asterism/client';
import type { Change } from './change.ts';
import { sayCriteriaMet } from './say-criteria-met.ts';
import { SimulatedNodes } from './simulated-nodes.ts';

/** A control plane with nodes that are only told of, to which changes are made. Nodes and pods are tended until it is disposed of. */
export class ChurnedPlane implements AsyncDisposable {
  readonly client: Client;
  readonly #nodes: SimulatedNodes;
  readonly #criteria: AsyncDisposable;

  constructor(client: Client) {
    this.client = client;
    this.#nodes = new SimulatedNodes(client);
    this.#criteria = sayCriteriaMet(client);
  }

  /** Makes the changes of `fill` at once, then those of `churn` one after the other, evenly over `durationMs` where the cluster keeps up. */
  async run({ fill, churn }: Record<'fill' | 'churn', readonly Change[]>, durationMs: number): Promise<void> {
    await Promise.all(fill.map((change) => this.#make(change)));
    const begin = performance.now();
    for (const [index, change] of churn.entries()) {
      await delay(Math.max(0, begin + (index * durationMs) / churn.length - performance.now()));
      await this.#make(change);
    }
  }

  async #make({ what, make }: Change): Promise<void> {
    try {
      await make({
        client: this.client,
        stopNode: (name) => this.#nodes.stop(name),
        startNode: (name) => this.#nodes.start(name),
      });
    } catch (cause) {
      throw new Error(`cannot ${what}: ${String(cause)}`, { cause });
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([this.#criteria[Symbol.asyncDispose](), this.#nodes[Symbol.asyncDispose]()]);
  }
}
