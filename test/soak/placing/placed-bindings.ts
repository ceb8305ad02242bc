import type { Client } from '@asterism/client';
import { type ResourceBinding, RESOURCE_BINDINGS, WORKS } from '@asterism/fleet/api';
import { isConditionTrue, type KubeObject, objectKey, type ResourceType } from '@asterism/machinery';
import { watchResource } from '@asterism/runtime';

/** How many bindings and Works a hub has, and how many bindings are settled, as watches of it tell: also of many thousands. */
export class PlacedBindings implements AsyncDisposable {
  readonly #bindings = new Map<string, ResourceBinding>();
  readonly #works = new Map<string, KubeObject>();
  readonly #stop = new AbortController();
  readonly #following: Promise<unknown>;

  constructor(client: Client) {
    this.#following = Promise.all([
      this.#follow(client, RESOURCE_BINDINGS, this.#bindings),
      this.#follow(client, WORKS, this.#works),
    ]);
  }

  get works(): number {
    return this.#works.size;
  }

  get bindings(): number {
    return this.#bindings.size;
  }

  /** Those that say themselves that all is applied in exactly these clusters. */
  settledIn(clusters: readonly string[]): number {
    const names = clusters.toSorted().join();
    return [...this.#bindings.values()].filter(({ metadata, status }) => {
      const applied = status?.aggregatedStatus?.flatMap((item) => (item.applied ? [item.clusterName] : [])) ?? [];
      const current = status?.observedGeneration === metadata.generation;
      return current && isConditionTrue(status?.conditions, 'FullyApplied') && applied.toSorted().join() === names;
    }).length;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#following;
  }

  async #follow<T extends KubeObject>(client: Client, type: ResourceType<T>, known: Map<string, T>): Promise<void> {
    const { signal } = this.#stop;
    // What a new list no longer has was removed while the watch was away.
    let before = new Set<string>();
    for await (const event of watchResource(client.resource(type), { signal })) {
      if (event.type === 'Init') before = new Set(known.keys());
      else if (event.type === 'InitDone') for (const key of before) known.delete(key);
      else {
        const key = objectKey(event.object);
        before.delete(key);
        if (event.type === 'Delete') known.delete(key);
        else known.set(key, event.object);
      }
    }
  }
}
