import { isNotFound, type ResourceType } from '@asterism/machinery';
import type { ObjectRef, Registry } from '../registry/registry.ts';
import type { Stored } from '../contract/stored.ts';

/** How long what is to be deleted still counts, ms. */
const LEAVING_MS = 60_000;

/** Which object it is, and when it is to be gone. */
interface Identity {
  readonly uid: string;
  readonly deletionTimestamp: string | undefined;
}

/**
 * The objects that tokens are bound to, asked for with every request that shows one: they are parsed once for each version of
 * theirs, and nothing of them is kept for longer than that version is.
 */
export class LivingIdentities {
  readonly #registry: Registry;
  readonly #clock: () => number;
  readonly #known = new WeakMap<Stored, Identity>();

  constructor(registry: Registry, clock: () => number) {
    this.#registry = registry;
    this.#clock = clock;
  }

  /** The uid of what stands there now; undefined too for what was to be deleted more than a minute ago. */
  async uidOf(type: ResourceType, ref: ObjectRef): Promise<string | undefined> {
    const resource = this.#registry.find(type.group, type.version, type.resource);
    if (resource === undefined) return undefined;
    try {
      const { uid, deletionTimestamp } = this.#identityOf(await this.#registry.get(resource, ref));
      const isGone = deletionTimestamp !== undefined && Date.parse(deletionTimestamp) + LEAVING_MS < this.#clock();
      return isGone ? undefined : uid;
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  #identityOf(stored: Stored): Identity {
    let identity = this.#known.get(stored);
    if (identity === undefined) {
      const { uid = '', deletionTimestamp } = stored.parse().metadata ?? {};
      this.#known.set(stored, (identity = { uid, deletionTimestamp }));
    }
    return identity;
  }
}
