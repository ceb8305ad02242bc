import { compareKubeVersions, deepEqual, formatGroupResource, type KubeObject, formatTime } from '@asterism/machinery';
import { KeyedWork } from '../controllers/keyed-work.ts';
import type { Catalogue } from '../registry/catalogue.ts';
import type { ObjectDeleter } from '../registry/object-deleter.ts';
import type { ObjectReader } from '../registry/object-reader.ts';
import type { ObjectWriter } from '../registry/object-writer.ts';
import type { WriteContext } from '../registry/registry.ts';
import type { ServedVersion } from '../registry/served-version.ts';
import { WriteRequest } from '../registry/write.ts';
import type { ObjectStore } from '../storage/object-store.ts';
import type { CacheEvent } from '../storage/resource-cache.ts';
import { acceptNames } from './accept-names.ts';
import {
  CLEANUP_FINALIZER,
  type CustomResourceDefinition,
  DEFINITIONS,
  type DefinitionCondition,
  isConditionTrue,
  withCondition,
} from './custom-resource-definition.ts';
import { customResourceVersions } from './custom-resource-version.ts';

export interface CustomResourcesOptions {
  store: ObjectStore;
  catalogue: Catalogue;
  reader: ObjectReader;
  writer: ObjectWriter;
  deleter: ObjectDeleter;
  /** Milliseconds since 1970. */
  clock: () => number;
  /** Told of what failed and is tried again. */
  onError(error: unknown): void;
}

interface Served {
  /** What of the definition the versions were made from: its generation counts the changes of its spec. */
  source: readonly unknown[];
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
  /** Every definition as it is stored now, by name. */
  readonly #definitions = new Map<string, CustomResourceDefinition>();
  readonly #served = new Map<string, Served>();
  readonly #emptying = new Map<string, () => void>();
  readonly #unsubscribe: () => void;
  readonly #closed = new AbortController();
  /** On definitions whose status may not be as it should, by name. */
  readonly #work: KeyedWork;

  constructor(options: CustomResourcesOptions) {
    this.#options = options;
    this.#work = new KeyedWork({
      work: (name) => this.#settle(name),
      onError: (_, error) => options.onError(error),
      signal: this.#closed.signal,
    });
    for (const [name, stored] of options.store.cache(DEFINITIONS).intactEntries('', '')) {
      this.#definitions.set(name, stored.parse());
      this.#work.add(name);
    }
    this.#serve(this.#definitions.keys());
    this.#unsubscribe = options.store.subscribe(DEFINITIONS, (event) => this.#changed(event));
  }

  /** Resolves when everything that is known now has been worked on. */
  async settled(): Promise<void> {
    await this.#work.settled();
  }

  async close(): Promise<void> {
    this.#closed.abort();
    this.#unsubscribe();
    for (const stop of this.#emptying.values()) stop();
    await this.#work.settled();
  }

  #changed({ type, key: name, object }: CacheEvent): void {
    const definition: CustomResourceDefinition = object.parse();
    if (type === 'delete') this.#definitions.delete(name);
    else this.#definitions.set(name, definition);
    this.#serve([name]);
    this.#work.add(name);
    // Names that this one had, or no longer wants, others of its group may have been waiting for.
    for (const [other, { spec, status }] of this.#definitions) {
      const waits =
        spec?.group === definition.spec?.group && !isConditionTrue({ status: status ?? {} }, 'NamesAccepted');
      if (waits) this.#work.add(other);
    }
  }

  /** Brings the catalogue to what is stored of these definitions. */
  #serve(names: Iterable<string>): void {
    const { catalogue, reader } = this.#options;
    const ended: ServedVersion[] = [];
    let changed = false;
    for (const name of names) {
      const definition = this.#definitions.get(name);
      const before = this.#served.get(name);
      const established = definition !== undefined && isConditionTrue(definition, 'Established');
      const { uid, generation } = definition?.metadata ?? {};
      const source = [uid, generation ?? definition?.spec, definition?.status?.acceptedNames];
      if (established ? before && deepEqual(before.source, source) : !before) continue;
      changed = true;
      ended.push(...(before?.versions ?? []).map(({ version }) => version));
      if (established) {
        const versions = customResourceVersions(definition, () => this.#isTerminating(name, uid));
        this.#served.set(name, { source, versions });
      } else this.#served.delete(name);
    }
    if (!changed) return;
    const all = [...this.#served.values()].flatMap(({ versions }) => versions);
    const shown = all.filter(({ served }) => served).map(({ version }) => version);
    catalogue.setCustom(shown.sort(byPreference));
    for (const version of ended) reader.endWatches(version);
  }

  /** So is one that is gone, or that another one of the same name has followed. */
  #isTerminating(name: string, uid: string | undefined): boolean {
    const { metadata } = this.#definitions.get(name) ?? {};
    return metadata === undefined || metadata.uid !== uid || metadata.deletionTimestamp !== undefined;
  }

  async #settle(name: string): Promise<void> {
    const definition = this.#definitions.get(name);
    if (definition?.metadata?.deletionTimestamp) await this.#empty(definition);
    else if (definition) await this.#establish(definition);
  }

  async #establish(definition: CustomResourceDefinition): Promise<void> {
    const name = definition.metadata?.name ?? '';
    const statusOf = (current: CustomResourceDefinition): CustomResourceDefinition['status'] => {
      const group = current.spec?.group;
      const others = [...this.#definitions].filter(([other, { spec }]) => other !== name && spec?.group === group);
      return acceptNames(
        current,
        others.map(([, each]) => each),
        this.#now(),
      );
    };
    if (deepEqual(statusOf(definition), definition.status)) return;
    await this.#rewriteStatus(name, (old) => ({ ...old, status: statusOf(old as CustomResourceDefinition) }));
  }

  /** Deletes all objects of a definition that is being deleted; the last that goes takes the finalizer with it. */
  async #empty(definition: CustomResourceDefinition): Promise<void> {
    const { store, deleter } = this.#options;
    const { name = '', finalizers = [] } = definition.metadata ?? {};
    if (!finalizers.includes(CLEANUP_FINALIZER)) return;
    const groupResource = formatGroupResource({
      group: definition.spec?.group ?? '',
      resource: definition.status?.acceptedNames?.plural ?? '',
    });
    const version = this.#served.get(name)?.versions[0]?.version;
    if (version) {
      await this.#sayTerminating(definition, IN_PROGRESS);
      this.#watchEmptying(groupResource, name);
      for (const [, stored] of Array.from(store.cache(groupResource).entries('', ''))) {
        const { namespace, name: instance = '', deletionTimestamp } = stored.parse().metadata ?? {};
        if (deletionTimestamp) continue;
        const request = new WriteRequest(version, { namespace, name: instance }, AS_SERVER);
        await deleter.delete(request, {}).catch(ignoreNotFound);
      }
      if (store.cache(groupResource).size > 0) return;
    }
    this.#emptying.get(groupResource)?.();
    this.#emptying.delete(groupResource);
    const now = this.#now();
    await this.#rewriteStatus(name, (old) => ({
      ...withTerminating(old, { ...(version ? COMPLETED : NEVER_ESTABLISHED), lastTransitionTime: now }),
      metadata: {
        ...old.metadata,
        finalizers: old.metadata?.finalizers?.filter((each) => each !== CLEANUP_FINALIZER) ?? [],
      },
    }));
  }

  async #rewriteStatus(name: string, change: (old: KubeObject) => KubeObject): Promise<void> {
    const definitions = this.#options.catalogue.require('apiextensions.k8s.io', 'v1', 'customresourcedefinitions');
    const request = new WriteRequest(definitions, { name }, { ...AS_SERVER, subresource: 'status' });
    await this.#options.writer.rewrite(request, change);
  }

  #now(): string {
    return formatTime(this.#options.clock());
  }

  /** Says in the status of a definition how far its deletion is; nothing where it says so already. */
  async #sayTerminating({ metadata, status }: CustomResourceDefinition, condition: DefinitionCondition): Promise<void> {
    const { name = '' } = metadata ?? {};
    if (status?.conditions?.some(({ type, reason }) => type === condition.type && reason === condition.reason)) return;
    const lastTransitionTime = this.#now();
    await this.#rewriteStatus(name, (old) => withTerminating(old, { ...condition, lastTransitionTime }));
  }

  /** Looks again whenever an object of the resource goes. */
  #watchEmptying(groupResource: string, definition: string): void {
    if (this.#emptying.has(groupResource)) return;
    const stop = this.#options.store.subscribe(groupResource, ({ type }) => {
      if (type === 'delete') this.#work.add(definition);
    });
    this.#emptying.set(groupResource, stop);
  }
}

/** How far the deletion of a definition is, as apiextensions' finalizer says it. */
const IN_PROGRESS: DefinitionCondition = {
  type: 'Terminating',
  status: 'True',
  reason: 'InstanceDeletionInProgress',
  message: 'CustomResource deletion is in progress',
};
const COMPLETED: DefinitionCondition = {
  type: 'Terminating',
  status: 'False',
  reason: 'InstanceDeletionCompleted',
  message: 'removed all instances',
};
const NEVER_ESTABLISHED: DefinitionCondition = {
  type: 'Terminating',
  status: 'False',
  reason: 'NeverEstablished',
  message: 'resource was never established',
};

function withTerminating(definition: CustomResourceDefinition, condition: DefinitionCondition): KubeObject {
  const { status } = definition;
  return { ...definition, status: { ...status, conditions: withCondition(status?.conditions ?? [], condition) } };
}

/** The order of discovery: groups by name, in each the preferred version first. */
function byPreference({ type: a }: ServedVersion, { type: b }: ServedVersion): number {
  if (a.group !== b.group) return a.group < b.group ? -1 : 1;
  if (a.version !== b.version) return compareKubeVersions(b.version, a.version);
  return a.resource < b.resource ? -1 : 1;
}

function ignoreNotFound(error: unknown): void {
  if (typeof error === 'object' && error !== null && 'reason' in error && error.reason === 'NotFound') return;
  throw error;
}
