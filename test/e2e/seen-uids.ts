import type { Client } from '@asterism/client';
import type { KubeObject, ResourceType } from '@asterism/machinery';
import { watchResource } from '@asterism/runtime';

/** Keeps count of the objects of a kind in one namespace, through whatever befalls the server: which uids bore a name. */
export class SeenUids implements AsyncDisposable {
  readonly #uids = new Map<string, Set<string>>();
  readonly #stop = new AbortController();
  readonly #watching: Promise<void>;

  constructor(client: Client, type: ResourceType, namespace: string) {
    this.#watching = this.#watch(client, type, namespace).catch((error) => {
      if (!this.#stop.signal.aborted) throw error;
    });
  }

  /** How many different objects bore that name. */
  of(name: string): number {
    return this.#uids.get(name)?.size ?? 0;
  }

  async #watch(client: Client, type: ResourceType, namespace: string): Promise<void> {
    const { signal } = this.#stop;
    for await (const event of watchResource(client.resource(type), { namespace, signal })) {
      if (event.type !== 'Apply' && event.type !== 'InitApply') continue;
      const { name = '', uid = '' } = (event.object as KubeObject).metadata ?? {};
      this.#uids.set(name, (this.#uids.get(name) ?? new Set()).add(uid));
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#watching;
  }
}
