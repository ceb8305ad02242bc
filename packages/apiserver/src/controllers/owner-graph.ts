import { deepEqual, type KubeObject, type OwnerReference } from '@asterism/machinery';
import type { ServedResource } from '../contract/served-resource.ts';

/** One object that has owners. */
export interface Dependent {
  readonly key: string;
  readonly resource: ServedResource;
  readonly namespace: string | undefined;
  readonly name: string;
  readonly uid: string;
  readonly owners: readonly OwnerReference[];
}

/**
 * Who depends on whom, by uid. Only objects with owners stand here, so that a cluster of objects without any costs nothing.
 */
export class OwnerGraph {
  readonly #byKey = new Map<string, Dependent>();
  readonly #byOwner = new Map<string, Set<Dependent>>();

  /** Learns the owners that an object has now. Gives it where that is new: it has owners, and they or the object were others before. */
  put(resource: ServedResource, object: KubeObject): Dependent | undefined {
    const { namespace, name = '', uid = '', ownerReferences = [] } = object.metadata ?? {};
    const key = dependentKey(resource, namespace, name);
    const before = this.#byKey.get(key);
    if (before?.uid === uid && deepEqual(before.owners, ownerReferences)) return undefined;
    this.remove(key);
    if (ownerReferences.length === 0) return undefined;
    const dependent: Dependent = { key, resource, namespace, name, uid, owners: ownerReferences };
    this.#byKey.set(key, dependent);
    for (const { uid: owner } of ownerReferences) {
      const dependents = this.#byOwner.get(owner);
      if (dependents) dependents.add(dependent);
      else this.#byOwner.set(owner, new Set([dependent]));
    }
    return dependent;
  }

  remove(key: string): void {
    const dependent = this.#byKey.get(key);
    if (!dependent) return;
    this.#byKey.delete(key);
    for (const { uid } of dependent.owners) {
      const dependents = this.#byOwner.get(uid);
      if (dependents?.delete(dependent) && dependents.size === 0) this.#byOwner.delete(uid);
    }
  }

  get(key: string): Dependent | undefined {
    return this.#byKey.get(key);
  }

  dependentsOf(uid: string): readonly Dependent[] {
    return [...(this.#byOwner.get(uid) ?? [])];
  }

  all(): Iterable<Dependent> {
    return this.#byKey.values();
  }
}

export function dependentKey({ type }: ServedResource, namespace: string | undefined, name: string): string {
  return `${type.resource}.${type.group}/${namespace ?? ''}/${name}`;
}
