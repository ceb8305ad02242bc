import { deepEqual, formatGroupResource } from '@asterism/machinery';
import type { Catalogue } from '../registry/catalogue.ts';
import type { ObjectDeleter } from '../registry/object-deleter.ts';
import type { ObjectReader } from '../registry/object-reader.ts';
import type { ObjectWriter } from '../registry/object-writer.ts';
import type { WriteContext } from '../registry/registry.ts';
import type { ServedVersion } from '../registry/served-version.ts';
import type { ObjectStore } from '../storage/object-store.ts';
import { acceptNames } from './accept-names.ts';
import {
  CLEANUP_FINALIZER,
  type CustomResourceDefinition,
  DEFINITIONS,
  isConditionTrue,
} from './custom-resource-definition.ts';
import { customResourceVersions } from './custom-resource-version.ts';

export interface CustomResourcesOptions {
  store: ObjectStore;
  catalogue: Catalogue;
  reader: ObjectReader;
  writer: ObjectWriter;
  deleter: ObjectDeleter;
  /** Told of what should not happen; the work goes on with the next change. */
  onError(error: unknown): void;
}

interface Served {
  /** What of the definition the versions were made from. */
  source: unknown;
  versions: readonly { version: ServedVersion; served: boolean }[];
}

const AS_SERVER: WriteContext = {
  user: { username: 'system:apiserver', groups: ['system:masters'] },
  fieldManager: 'kube-apiserver',
};

/**
 * Makes definitions true: serves what is established, says so in their status, and empties what is being deleted.
 *
 * R1. What is served follows the stored definitions within the commit that changes them: no request sees an older schema.
 * R2. Everything is derived from what is stored, so that a restart at any moment goes on where it was.
 * R3. A version whose definition did not change is the same object, and its watches go on; else they end, as upstream.
 */
export class CustomResources {
  readonly #options: CustomResourcesOptions;
  readonly #served = new Map<string, Served>();
  readonly #emptying = new Map<string, () => void>();
  readonly #unsubscribe: () => void;
  #pending = false;
  #working: Promise<void> = Promise.resolve();
  #closed = false;

  constructor(options: CustomResourcesOptions) {
    this.#options = options;
    this.#serve();
    this.#unsubscribe = options.store.subscribe(DEFINITIONS, () => this.#changed());
    this.#schedule();
  }

  /** Resolves when everything that is known now has been worked on. */
  async settled(): Promise<void> {
    while (this.#pending) await this.#working;
    await this.#working;
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#unsubscribe();
    for (const stop of this.#emptying.values()) stop();
    await this.#working;
  }

  #changed(): void {
    this.#serve();
    this.#schedule();
  }

  #definitions(): CustomResourceDefinition[] {
    return [...this.#options.store.cache(DEFINITIONS).entries('', '')].map(([, stored]) => stored.parse());
  }

  /** Brings the catalogue to what is stored. */
  #serve(): void {
    const { catalogue, reader } = this.#options;
    const established = this.#definitions().filter((each) => isConditionTrue(each, 'Established'));
    const names = new Set<string>();
    const ended: ServedVersion[] = [];
    let changed = false;
    for (const definition of established) {
      const name = definition.metadata?.name ?? '';
      names.add(name);
      const source = [definition.metadata?.uid, definition.spec, definition.status?.acceptedNames];
      const before = this.#served.get(name);
      if (before && deepEqual(before.source, source)) continue;
      changed = true;
      ended.push(...(before?.versions ?? []).map(({ version }) => version));
      const versions = customResourceVersions(definition, () => this.#isTerminating(name));
      this.#served.set(name, { source, versions });
    }
    for (const [name, { versions }] of this.#served) {
      if (names.has(name)) continue;
      changed = true;
      ended.push(...versions.map(({ version }) => version));
      this.#served.delete(name);
    }
    if (!changed) return;
    const all = [...this.#served.values()].flatMap(({ versions }) => versions);
    catalogue.setCustom(all.filter(({ served }) => served).map(({ version }) => version));
    for (const version of ended) reader.endWatches(version);
  }

  #isTerminating(name: string): boolean {
    const definition = this.#options.store.get(DEFINITIONS, undefined, name)?.parse();
    return definition?.metadata?.deletionTimestamp !== undefined;
  }

  #schedule(): void {
    if (this.#pending || this.#closed) return;
    this.#pending = true;
    this.#working = this.#working.then(async () => {
      this.#pending = false;
      if (!this.#closed) await this.#reconcile().catch((error: unknown) => this.#options.onError(error));
    });
  }

  async #reconcile(): Promise<void> {
    for (const definition of this.#definitions()) {
      if (this.#closed) return;
      if (definition.metadata?.deletionTimestamp) await this.#empty(definition);
      else await this.#establish(definition);
    }
  }

  async #establish(definition: CustomResourceDefinition): Promise<void> {
    const { writer, catalogue } = this.#options;
    const name = definition.metadata?.name ?? '';
    const statusOf = (current: CustomResourceDefinition): CustomResourceDefinition['status'] => {
      const group = current.spec?.group;
      const others = this.#definitions().filter((each) => each.spec?.group === group && each.metadata?.name !== name);
      return acceptNames(current, others, writer.times().now);
    };
    if (deepEqual(statusOf(definition), definition.status)) return;
    const definitions = catalogue.require('apiextensions.k8s.io', 'v1', 'customresourcedefinitions');
    await writer.rewrite(definitions, { name }, { ...AS_SERVER, subresource: 'status' }, (old) => ({
      ...old,
      status: statusOf(old as CustomResourceDefinition),
    }));
  }

  /** Deletes all objects of a definition that is being deleted; the last that goes takes the finalizer with it. */
  async #empty(definition: CustomResourceDefinition): Promise<void> {
    const { store, deleter, writer, catalogue } = this.#options;
    const { name = '', finalizers = [] } = definition.metadata ?? {};
    if (!finalizers.includes(CLEANUP_FINALIZER)) return;
    const groupResource = formatGroupResource({
      group: definition.spec?.group ?? '',
      resource: definition.status?.acceptedNames?.plural ?? '',
    });
    const version = this.#served.get(name)?.versions[0]?.version;
    if (version) {
      this.#watchEmptying(groupResource);
      for (const [, stored] of Array.from(store.cache(groupResource).entries('', ''))) {
        const { namespace, name: instance = '', deletionTimestamp } = stored.parse().metadata ?? {};
        if (deletionTimestamp) continue;
        await deleter.delete(version, { namespace, name: instance }, {}, AS_SERVER).catch(ignoreNotFound);
      }
      if (store.cache(groupResource).size > 0) return;
    }
    this.#emptying.get(groupResource)?.();
    this.#emptying.delete(groupResource);
    const definitions = catalogue.require('apiextensions.k8s.io', 'v1', 'customresourcedefinitions');
    await writer.rewrite(definitions, { name }, AS_SERVER, (old) => ({
      ...old,
      metadata: {
        ...old.metadata,
        finalizers: old.metadata?.finalizers?.filter((each) => each !== CLEANUP_FINALIZER) ?? [],
      },
    }));
  }

  /** Looks again whenever an object of the resource goes. */
  #watchEmptying(groupResource: string): void {
    if (this.#emptying.has(groupResource)) return;
    const stop = this.#options.store.subscribe(groupResource, ({ type }) => {
      if (type === 'delete') this.#schedule();
    });
    this.#emptying.set(groupResource, stop);
  }
}

function ignoreNotFound(error: unknown): void {
  if (typeof error === 'object' && error !== null && 'reason' in error && error.reason === 'NotFound') return;
  throw error;
}
