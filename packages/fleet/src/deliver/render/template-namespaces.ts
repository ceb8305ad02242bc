import { deepEqual, ifFound, type KubeObject, NAMESPACES } from '@asterism/machinery';
import type { Cluster, Informer } from '@asterism/runtime';
import type { ObjectReference } from '../../api/index.ts';
import { podSecurityLabels } from './pod-security-labels.ts';

/**
 * The Pod Security labels of the Namespaces that hold templates. A Namespace that a member lacks is created with them: what the hub's
 * Namespace says would protect nothing there otherwise.
 */
export class TemplateNamespaces {
  readonly #cluster: Cluster;
  readonly #informer: Informer;
  /** Of Namespaces that the cache did not know yet when it was asked. */
  readonly #early = new Map<string, KubeObject>();

  /** @param changed - called with the name of a Namespace whose labels have changed. */
  constructor(cluster: Cluster, changed: (name: string) => void) {
    this.#cluster = cluster;
    this.#informer = cluster.cache.informer<KubeObject>(NAMESPACES, { metadataOnly: true });
    const compare = (before: KubeObject, after: KubeObject): void => {
      if (!deepEqual(podSecurityLabels(before), podSecurityLabels(after))) changed(after.metadata?.name ?? '');
    };
    this.#informer.addHandler({
      onAdd: (namespace) => {
        const early = this.#early.get(namespace.metadata?.name ?? '');
        this.#early.delete(namespace.metadata?.name ?? '');
        if (early) compare(early, namespace);
      },
      onUpdate: compare,
      onDelete: ({ metadata }) => void this.#early.delete(metadata?.name ?? ''),
    });
  }

  /** Resolves when the labels of the template's Namespace are known. */
  async ready({ namespace }: ObjectReference, signal: AbortSignal): Promise<void> {
    if (namespace === undefined) return;
    await this.#informer.synced(signal);
    if (this.#informer.store.get(namespace) || this.#early.has(namespace)) return;
    const live = await ifFound(this.#cluster.client.resource(NAMESPACES).get({ name: namespace }, { signal }));
    if (live && !this.#informer.store.get(namespace)) this.#early.set(namespace, live);
  }

  labelsOf({ namespace }: ObjectReference): Record<string, string> | undefined {
    if (namespace === undefined) return undefined;
    return podSecurityLabels(this.#informer.store.get(namespace) ?? this.#early.get(namespace));
  }
}
