import { formatApiVersion } from '@asterism/machinery';
import type { ServedVersion } from './served-version.ts';

/** By group, version and plural: several requests a millisecond look there, and a key put together for each costs more than that. */
type Index = ReadonlyMap<string, ReadonlyMap<string, ReadonlyMap<string, ServedVersion>>>;

/** Everything that is served, built-in and custom, and who wants to know of changes. */
export class Catalogue {
  readonly #builtin: readonly ServedVersion[];
  readonly #legacy: readonly ServedVersion[];
  readonly #listeners = new Set<() => void>();
  #all: readonly ServedVersion[];
  #index: Index;
  #stored: ReadonlyMap<string, ServedVersion>;

  constructor(builtin: readonly ServedVersion[], legacy: readonly ServedVersion[] = []) {
    this.#builtin = builtin;
    this.#legacy = legacy;
    this.#all = builtin;
    this.#index = indexOf([...builtin, ...legacy]);
    this.#stored = storedIndexOf(builtin);
  }

  /** What is shown to all clients; {@link find} also finds {@link legacy}. */
  served(): readonly ServedVersion[] {
    return this.#all;
  }

  /** Versions for old clients, which know what they ask for. */
  legacy(): readonly ServedVersion[] {
    return this.#legacy;
  }

  find(group: string, version: string, resource: string): ServedVersion | undefined {
    return this.#index.get(group)?.get(version)?.get(resource);
  }

  /** What is always there. */
  require(group: string, version: string, resource: string): ServedVersion {
    const found = this.find(group, version, resource);
    if (!found) throw new Error(`${resource} of ${group}/${version} is not built in`);
    return found;
  }

  /** The version in which objects of `groupResource` are stored, or one that shows them. */
  findStored(groupResource: string): ServedVersion | undefined {
    return this.#stored.get(groupResource);
  }

  /** The other served versions of what is stored as one. */
  equivalents(resource: ServedVersion): ServedVersion[] {
    const { groupResource } = resource;
    return [...this.#all, ...this.#legacy].filter((each) => each.groupResource === groupResource && each !== resource);
  }

  /** Serves exactly these custom resources from now on. */
  setCustom(custom: readonly ServedVersion[]): void {
    // What is built in stays so, even where a definition was approved for a group of Kubernetes' own.
    const own = new Set(this.#builtin.map(({ type }) => formatApiVersion(type)));
    this.#all = [...this.#builtin, ...custom.filter(({ type }) => !own.has(formatApiVersion(type)))];
    this.#index = indexOf([...this.#all, ...this.#legacy]);
    this.#stored = storedIndexOf(this.#all);
    for (const listener of this.#listeners) listener();
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}

function indexOf(resources: readonly ServedVersion[]): Index {
  const index = new Map<string, Map<string, Map<string, ServedVersion>>>();
  for (const each of resources) {
    const { group, version, resource } = each.type;
    const versions = index.get(group) ?? new Map<string, Map<string, ServedVersion>>();
    const plurals = versions.get(version) ?? new Map<string, ServedVersion>();
    index.set(group, versions.set(version, plurals.set(resource, each)));
  }
  return index;
}

function storedIndexOf(resources: readonly ServedVersion[]): ReadonlyMap<string, ServedVersion> {
  const index = new Map<string, ServedVersion>();
  for (const each of resources) {
    if (!each.conversion || !index.has(each.groupResource)) index.set(each.groupResource, each);
  }
  return index;
}
