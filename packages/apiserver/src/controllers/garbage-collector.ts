import { setImmediate } from 'node:timers/promises';
import { isConflict, isNotFound, type KubeObject, type OwnerReference, parseApiVersion } from '@asterism/machinery';
import { FOREGROUND_FINALIZER, ORPHAN_FINALIZER } from '../registry/object-deleter.ts';
import type { Stored } from '../contract/stored.ts';
import { type Controller, type ControllerOptions, deletableResources, writeContext } from './controller-options.ts';
import { KeyedWork } from './keyed-work.ts';
import { type Dependent, dependentKey, OwnerGraph } from './owner-graph.ts';
import type { ServedResource } from '../contract/served-resource.ts';

/** What an owner reference leads to. */
type Owner = 'living' | 'absent' | 'waiting' | 'unknown';

/**
 * Deletes what its owners left behind, as the garbage collector of kube-controller-manager does, without its caches: reads
 * here are never behind, so that an owner which is not found does not exist.
 *
 * G1. An object goes when it has owners and none of them exists; an owner of the same name and another uid is not one.
 * G2. An owner whose kind is not served, or that stands where the object cannot have an owner, keeps the object.
 * G3. `foregroundDeletion` holds an owner until every dependent that blocks it is gone; `orphan` until none names it.
 * G4. Everything follows from what is stored: a restart goes on where it was.
 */
export function startGarbageCollector(options: ControllerOptions): Controller {
  const collector = new GarbageCollector(options);
  return { settled: () => collector.settled() };
}

class GarbageCollector {
  readonly #options: ControllerOptions;
  readonly #graph = new OwnerGraph();
  readonly #work: KeyedWork;
  /** Owners that wait for the collector, by the key of their work. */
  readonly #finalizing = new Map<string, { resource: ServedResource; namespace: string | undefined; name: string }>();
  readonly #begin: Promise<void>;
  /** What is newer here than in the lists of the beginning, while these are read. */
  #changedMeanwhile: Set<string> | undefined = new Set();

  constructor(options: ControllerOptions) {
    this.#options = options;
    const { registry, signal, onError } = options;
    this.#work = new KeyedWork({
      work: (key) => this.#process(key),
      onError: (key, error) => onError(`garbage collection of ${key}`, error),
      signal,
    });
    const stops = [
      registry.observe(({ resource, type, namespace, name, stored }) => {
        this.#changedMeanwhile?.add(dependentKey(resource, namespace, name));
        if (type === 'delete') this.#gone(resource, { namespace, name }, stored.parse());
        else this.#changed(resource, { namespace, name }, stored);
      }),
      // A kind that comes lets its dependents' owners be found, and found missing.
      registry.onChange(() => this.#recheckAll()),
    ];
    signal.addEventListener('abort', () => stops.forEach((stop) => stop()), { once: true });
    this.#begin = this.#readAll().catch((error: unknown) => onError('garbage collection of what is stored', error));
  }

  async settled(): Promise<void> {
    await this.#begin;
    await this.#work.settled();
  }

  async #readAll(): Promise<void> {
    const { registry, signal } = this.#options;
    for (const resource of deletableResources(registry).filter(isCollected)) {
      if (signal.aborted) return;
      let parsed = 0;
      // A definition may be gone by now, and its objects with it.
      const found = await registry.list(resource, { skipDamaged: true }).catch(absent);
      for (const item of found?.items ?? []) {
        if (signal.aborted) return;
        if (!concernsOwners(item)) continue;
        const { namespace, name = '' } = item.parse().metadata ?? {};
        if (!this.#changedMeanwhile?.has(dependentKey(resource, namespace, name))) {
          this.#changed(resource, { namespace, name }, item);
        }
        // Requests go on, and what was parsed can be forgotten.
        if (++parsed % PARSED_IN_ONE_TURN === 0) await setImmediate();
      }
    }
    this.#changedMeanwhile = undefined;
  }

  #recheckAll(): void {
    for (const { key } of this.#graph.all()) this.#work.add(key);
  }

  #changed(resource: ServedResource, place: { namespace: string | undefined; name: string }, stored: Stored): void {
    const key = dependentKey(resource, place.namespace, place.name);
    if (!concernsOwners(stored) && !this.#graph.get(key)) return;
    const object = stored.parse();
    const { deletionTimestamp, finalizers = [] } = object.metadata ?? {};
    if (this.#graph.put(resource, object)) this.#work.add(key);
    if (deletionTimestamp && (finalizers.includes(ORPHAN_FINALIZER) || finalizers.includes(FOREGROUND_FINALIZER))) {
      this.#finalizing.set(`finalize ${key}`, { resource, ...place });
    }
    this.#recheckFinalizing();
  }

  #gone(resource: ServedResource, place: { namespace: string | undefined; name: string }, object: KubeObject): void {
    this.#graph.remove(dependentKey(resource, place.namespace, place.name));
    for (const dependent of this.#graph.dependentsOf(object.metadata?.uid ?? '')) this.#work.add(dependent.key);
    this.#recheckFinalizing();
  }

  /** Owners that wait are few, and any change of a dependent may be what one of them waits for. */
  #recheckFinalizing(): void {
    for (const key of this.#finalizing.keys()) this.#work.add(key);
  }

  async #process(key: string): Promise<void> {
    const finalizing = this.#finalizing.get(key);
    if (finalizing) {
      await this.#finalize(key, finalizing);
      return;
    }
    const dependent = this.#graph.get(key);
    if (dependent) await this.#collect(dependent);
  }

  /** Deletes a dependent that has no owner left, or takes off it the owners that do not exist. */
  async #collect(dependent: Dependent): Promise<void> {
    const object = await this.#read(dependent);
    if (!object || object.metadata?.uid !== dependent.uid) return;
    const owners = object.metadata.ownerReferences ?? [];
    if (owners.length === 0) return;
    const states = await Promise.all(owners.map((owner) => this.#lookUp(owner, dependent.namespace)));
    const keeping = states.some((state) => state === 'living' || state === 'unknown');
    if (!keeping) await this.#deleteDependent(dependent, object, states.includes('waiting'));
    else if (states.some((state) => state === 'absent' || state === 'waiting')) {
      const kept = owners.filter((_, index) => states[index] === 'living' || states[index] === 'unknown');
      await this.#patchMetadata(dependent, { ownerReferences: kept }, object);
    }
  }

  async #deleteDependent(dependent: Dependent, object: KubeObject, ownerWaits: boolean): Promise<void> {
    const { registry } = this.#options;
    const { deletionTimestamp, finalizers = [], resourceVersion, uid = '' } = object.metadata ?? {};
    if (deletionTimestamp) return;
    const foreground = ownerWaits && this.#graph.dependentsOf(uid).length > 0;
    const propagationPolicy = finalizers.includes(ORPHAN_FINALIZER)
      ? 'Orphan'
      : foreground || finalizers.includes(FOREGROUND_FINALIZER)
        ? 'Foreground'
        : 'Background';
    const preconditions = { uid, resourceVersion };
    const { resource, namespace, name } = dependent;
    await registry
      .delete(
        resource,
        { namespace, name },
        { propagationPolicy, preconditions },
        writeContext(this.#options, namespace),
      )
      .catch((error: unknown) => {
        if (isConflict(error)) this.#work.add(dependent.key);
        else if (!isNotFound(error)) throw error;
      });
  }

  /** An owner that is being deleted, and waits for its dependents to go or to be let go. */
  async #finalize(
    key: string,
    owner: { resource: ServedResource; namespace: string | undefined; name: string },
  ): Promise<void> {
    const object = await this.#read(owner);
    const { uid = '', deletionTimestamp, finalizers = [] } = object?.metadata ?? {};
    if (!object || !deletionTimestamp) {
      this.#finalizing.delete(key);
      return;
    }
    const dependents = this.#graph.dependentsOf(uid);
    if (finalizers.includes(ORPHAN_FINALIZER)) {
      for (const dependent of dependents) await this.#orphan(dependent, uid);
      await this.#dropFinalizer(owner, object, ORPHAN_FINALIZER);
    } else if (finalizers.includes(FOREGROUND_FINALIZER)) {
      const blocking = dependents.filter(({ owners }) =>
        owners.some((each) => each.uid === uid && each.blockOwnerDeletion),
      );
      for (const { key: dependent } of dependents) this.#work.add(dependent);
      if (blocking.length > 0) return;
      await this.#dropFinalizer(owner, object, FOREGROUND_FINALIZER);
    }
    this.#finalizing.delete(key);
  }

  async #orphan(dependent: Dependent, owner: string): Promise<void> {
    const object = await this.#read(dependent);
    if (!object) return;
    const ownerReferences = (object.metadata?.ownerReferences ?? []).filter(({ uid }) => uid !== owner);
    await this.#patchMetadata(dependent, { ownerReferences }, object);
  }

  async #dropFinalizer(
    owner: { resource: ServedResource; namespace: string | undefined; name: string },
    object: KubeObject,
    finalizer: string,
  ): Promise<void> {
    const finalizers = (object.metadata?.finalizers ?? []).filter((each) => each !== finalizer);
    await this.#patchMetadata(owner, { finalizers }, object);
  }

  /** Sets lists of metadata as they follow from `seen`; rejects (and so is tried again) where that changed meanwhile. */
  async #patchMetadata(
    { resource, namespace, name }: { resource: ServedResource; namespace: string | undefined; name: string },
    metadata: { ownerReferences?: OwnerReference[]; finalizers?: string[] },
    seen: KubeObject,
  ): Promise<void> {
    const { uid, resourceVersion } = seen.metadata ?? {};
    const body = { metadata: { uid, resourceVersion, ...metadata } };
    const context = writeContext(this.#options, namespace);
    await this.#options.registry.patch(resource, { namespace, name }, { type: 'merge', body }, context).catch(absent);
  }

  async #lookUp(owner: OwnerReference, namespace: string | undefined): Promise<Owner> {
    const place = this.#placeOf(owner, namespace);
    if (!place) return 'unknown';
    const found = await this.#read({ ...place, name: owner.name });
    if (found?.metadata?.uid !== owner.uid) return 'absent';
    const { deletionTimestamp, finalizers = [] } = found.metadata;
    return deletionTimestamp && finalizers.includes(FOREGROUND_FINALIZER) ? 'waiting' : 'living';
  }

  /** Where the owner stands: cluster-wide, or in the dependent's own namespace. */
  #placeOf(
    { apiVersion, kind }: OwnerReference,
    namespace: string | undefined,
  ): { resource: ServedResource; namespace: string | undefined } | undefined {
    const { group, version } = parseApiVersion(apiVersion);
    const ofGroup = this.#options.registry.served().filter(({ type }) => type.group === group && type.kind === kind);
    const resource = ofGroup.find(({ type }) => type.version === version) ?? ofGroup[0];
    if (!resource) return undefined;
    if (!resource.type.namespaced) return { resource, namespace: undefined };
    return namespace === undefined ? undefined : { resource, namespace };
  }

  async #read(place: {
    resource: ServedResource;
    namespace: string | undefined;
    name: string;
  }): Promise<KubeObject | undefined> {
    const { resource, namespace, name } = place;
    const found = await this.#options.registry.get(resource, { namespace, name }).catch(absent);
    return found?.parse();
  }
}

const PARSED_IN_ONE_TURN = 200;

/** Most objects have neither; a look at the bytes spares parsing them. */
/** Events have two groups and are stored in one of them: to look at the other would make a second form of each. */
function isCollected({ type }: ServedResource): boolean {
  return type.group !== 'events.k8s.io';
}

function concernsOwners({ bytes }: Stored): boolean {
  return bytes.includes(OWNERS) || bytes.includes(DELETION);
}

const OWNERS = Buffer.from('"ownerReferences":[');
const DELETION = Buffer.from('"deletionTimestamp":"');

function absent(error: unknown): undefined {
  if (!isNotFound(error)) throw error;
}
