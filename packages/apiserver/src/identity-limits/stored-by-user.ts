import { formatGroupResource, type KubeObject } from '@asterism/machinery';
import type { ObservedChange, Registry } from '../registry/registry.ts';
import type { IdentityLimit } from './identity-limit.ts';

/** How long what was admitted counts before it is stored, ms: a write that fails is forgotten then. */
const ADMITTED_MS = 10_000;

export interface Usage {
  objects: number;
  bytes: number;
}

interface Entry extends Usage {
  owner: string;
  /** When it stops to count, ms since 1970; undefined of what is stored. */
  until?: number;
}

/** What each user has stored of one kind. It is read from what is stored, so it is known after a restart too. */
export class StoredByUser {
  readonly #limit: IdentityLimit;
  readonly #annotation: string;
  readonly #entries = new Map<string, Entry>();
  readonly #admitted = new Map<string, Entry>();
  readonly #totals = new Map<string, Usage>();
  #isLoaded = false;

  constructor(limit: IdentityLimit, annotation: string) {
    this.#limit = limit;
    this.#annotation = annotation;
  }

  /** Reads what is stored, once the kind is served. */
  async load(registry: Registry): Promise<void> {
    if (this.#isLoaded) return;
    const resource = registry.served().find(({ type }) => this.#limit.resources.includes(formatGroupResource(type)));
    if (resource === undefined) return;
    this.#isLoaded = true;
    const { items } = await registry.list(resource, { skipDamaged: true });
    for (const item of items) {
      const object = item.parse();
      this.#put(keyOf(object), this.#entryOf(object, item.bytes.length));
    }
  }

  observe({ resource, type, namespace, name, stored }: ObservedChange): void {
    if (!this.#limit.resources.includes(formatGroupResource(resource.type))) return;
    const key = keyOf({ metadata: { name, ...(namespace && { namespace }) } });
    if (this.#admitted.has(key)) this.#forgetAdmitted(key);
    this.#put(key, type === 'delete' ? undefined : this.#entryOf(stored.parse(), stored.bytes.length));
  }

  /** Whether there is an object of that name: to create another is refused for its name. */
  has(object: KubeObject): boolean {
    return this.#entries.has(keyOf(object));
  }

  usageOf(owner: string, now: number): Usage {
    for (const [key, { until = 0 }] of this.#admitted) if (until <= now) this.#forgetAdmitted(key);
    return this.#totals.get(owner) ?? { objects: 0, bytes: 0 };
  }

  /** It counts from now on, before it is stored: many writes may be on their way at once. */
  admit(owner: string, object: KubeObject, { bytes, now }: { bytes: number; now: number }): void {
    const key = keyOf(object);
    this.#forgetAdmitted(key);
    const entry = { owner, bytes, objects: this.#counts(object), until: now + ADMITTED_MS };
    this.#admitted.set(key, entry);
    this.#add(entry, 1);
  }

  #forgetAdmitted(key: string): void {
    const entry = this.#admitted.get(key);
    if (entry) this.#add(entry, -1);
    this.#admitted.delete(key);
  }

  #entryOf(object: KubeObject, bytes: number): Entry | undefined {
    const { ownerOf } = this.#limit;
    const owner = ownerOf ? ownerOf(object) : object.metadata?.annotations?.[this.#annotation];
    return owner === undefined ? undefined : { owner, bytes, objects: this.#counts(object) };
  }

  #counts(object: KubeObject): number {
    return (this.#limit.counts?.(object) ?? true) ? 1 : 0;
  }

  #put(key: string, entry: Entry | undefined): void {
    const before = this.#entries.get(key);
    if (before) this.#add(before, -1);
    if (entry === undefined) this.#entries.delete(key);
    else this.#entries.set(key, entry);
    if (entry) this.#add(entry, 1);
  }

  #add({ owner, objects, bytes }: Entry, sign: 1 | -1): void {
    const total = this.#totals.get(owner) ?? { objects: 0, bytes: 0 };
    total.objects += sign * objects;
    total.bytes += sign * bytes;
    if (total.bytes === 0) this.#totals.delete(owner);
    else this.#totals.set(owner, total);
  }
}

function keyOf({ metadata: { namespace = '', name = '' } = {} }: KubeObject): string {
  return `${namespace}/${name}`;
}
