import { isStatusError, type KubeObject, objectKey } from '@asterism/machinery';
import type { Cluster } from '@asterism/runtime';
import { MANAGED_LABEL, type Work } from '../../api/index.ts';
import { KindInformers } from '../../template/kind-informers.ts';
import { readObject } from '../member/member-objects.ts';
import { type ManifestRef, manifestRefOf } from '../works/manifest-ref.ts';

const BY_LABEL = 'managed';

const labelIndex = ({ metadata }: KubeObject): string[] => {
  const label = metadata?.labels?.[MANAGED_LABEL];
  return label === undefined ? [] : [label];
};

/** An object of a member as it was found. */
export interface Found {
  object: KubeObject | undefined;
  /** False if nobody can watch the kind: it is not served yet, or the account may not list it. */
  isWatched: boolean;
}

/**
 * The objects of one cluster that Works have placed there: those with the label of a Work, watched by kind.
 *
 * M1  A kind that the account may write and may not list in the whole cluster, such as Secrets with the profile `workloads`, is not
 *     watched: each of its objects is read by itself.
 */
export class ManagedObjects {
  readonly #cluster: Cluster;
  readonly #kinds: KindInformers;

  /** `changed` is called with what an object is and what it was; with the same twice if it was deleted. */
  constructor(cluster: Cluster, changed: (object: KubeObject, before?: KubeObject) => void) {
    this.#cluster = cluster;
    this.#kinds = new KindInformers({
      cluster,
      labelSelector: MANAGED_LABEL,
      indexes: { [BY_LABEL]: labelIndex },
    });
    this.#kinds.addHandler({
      onAdd: (object, initial) => (initial ? undefined : changed(object)),
      onUpdate: (before, object) => changed(object, before),
      onDelete: (object) => changed(object, object),
    });
  }

  /** Watches the kinds of this Work, and no more those that it had before. */
  watchFor(work: Work): void {
    this.#kinds.hold(objectKey(work), work.spec.manifests.map(manifestRefOf));
  }

  /** Nothing is watched any more for the Work with this key. */
  release(key: string): void {
    this.#kinds.hold(key, []);
  }

  /** What the cache has of an object, complete or not. */
  known(ref: ManifestRef): KubeObject | undefined {
    return this.#kinds.store(ref)?.get(storeKey(ref));
  }

  /** The object, if it carries the label of a Work. Waits until its kind is listed. */
  async managed(ref: ManifestRef, signal: AbortSignal): Promise<Found> {
    try {
      const store = await this.#kinds.synced(ref, signal);
      return { object: store?.get(storeKey(ref)), isWatched: store !== undefined };
    } catch (error) {
      if (isStatusError(error, 'Forbidden')) return { object: undefined, isWatched: false };
      throw error;
    }
  }

  /** The object as the member has it now, whoever made it. */
  async read(ref: ManifestRef, signal: AbortSignal): Promise<KubeObject | undefined> {
    return await readObject(this.#cluster, await this.#cluster.client.discovery.typeFor(ref), ref, signal);
  }

  /** What is known of the objects with the label of a Work. */
  labelled(label: string): KubeObject[] {
    return this.#kinds.kinds().flatMap((kind) => this.#kinds.store(kind)?.byIndex(BY_LABEL, label) ?? []);
  }

  /** Whether the Work has objects of kinds that the account may not list. */
  hasUnseen({ spec }: Work): boolean {
    return spec.manifests.some((manifest) => this.#kinds.isForbidden(manifestRefOf(manifest)));
  }

  /** A kind that was not served is served now. */
  isServed(ref: ManifestRef): void {
    if (!this.#kinds.isForbidden(ref)) this.#kinds.recheck();
  }
}

function storeKey({ namespace, name }: ManifestRef): string {
  return namespace ? `${namespace}/${name}` : name;
}
