import { failure } from '@asterism/machinery';
import type { ObjectStore } from '../storage/object-store.ts';
import type { StoredObject } from '../storage/stored-object.ts';
import { requestOf } from './admission-pipeline.ts';
import type { AdmissionRequest } from '../contract/admission-step.ts';
import { requireCreatable } from './require-creatable.ts';
import type { ServedVersion } from './served-version.ts';
import { unsaved } from './unsaved.ts';
import type { ObjectChange } from '../contract/object-change.ts';
import type { Draft } from '../contract/strategy.ts';
import type { Creation, Update } from './write.ts';

const TRIES = 10;

/** A write that is charged to quotas. */
export interface ChargedWrite {
  request: AdmissionRequest;
  /** All changes that the write stores, except the usage of the quotas. The object itself is the last. */
  changes: readonly ObjectChange[];
  /** Asked right before it is: false where it cannot be stored, and it throws where it may not be any more. */
  isPossible(): boolean;
}

/** The quotas of a namespace. */
export interface Ledger {
  /** Throws 403 if a quota does not allow the write. */
  check(request: AdmissionRequest): void;
  /** Resolves with what is stored now, or with undefined if that is impossible or another was faster. */
  write(write: ChargedWrite): Promise<StoredObject | 'companion changed' | undefined>;
}

export interface Quotas {
  /** Undefined if no quota bounds the namespace. */
  ledgerFor(namespace: string | undefined): Promise<Ledger> | undefined;
}

/** The last of a write: what is admitted is charged to the quotas of its namespace, and stored with what belongs to it. */
export class WriteCommitter {
  readonly #store: ObjectStore;
  readonly #quotas: Quotas | undefined;

  /** Without `quotas` nothing is charged. */
  constructor(store: ObjectStore, quotas: Quotas | undefined) {
    this.#store = store;
    this.#quotas = quotas;
  }

  /** Resolves with undefined if the name is taken, or another write was faster. A dry run stores nothing. */
  async commit(write: Creation | Update): Promise<StoredObject | undefined> {
    const { resource, object, current } = write;
    const { namespace, name = '' } = object.metadata;
    const { dryRun } = write.strategyContext;
    const isPossible = (): boolean => {
      if (current !== undefined) return true;
      if (this.#store.get(resource.groupResource, namespace, name)) return false;
      if (!dryRun) requireCreatable(this.#store, write);
      return true;
    };
    const opening = this.#quotas?.ledgerFor(namespace);
    const ledger = opening && (await opening);
    if (dryRun) {
      ledger?.check(requestOf(write, object));
      return isPossible() ? unsaved(object, current?.revision ?? 0) : undefined;
    }
    const change = changeOf('put', resource, object, current);
    if (write.decoded && !write.isReplaced && change.object === object) change.madeBy = resource;
    const stored = await this.#withCompanions(resource, { change, current }, async (changes) => {
      if (ledger !== undefined) return await ledger.write({ request: requestOf(write, object), changes, isPossible });
      return isPossible() ? await this.#store.writeAfter(changes) : undefined;
    });
    return stored && resource.view(stored);
  }

  /** Stores the mark that a deletion sets. Resolves with undefined if another write was faster. */
  mark(resource: ServedVersion, object: Draft, current: StoredObject): Promise<StoredObject | undefined> {
    return this.#store.write(changeOf('put', resource, object, current));
  }

  /** Removes `object`, as it is at its end. Resolves with undefined where somebody else was faster. */
  async remove(resource: ServedVersion, object: Draft, current: StoredObject): Promise<StoredObject | undefined> {
    const change = changeOf('delete', resource, object, current);
    return await this.#withCompanions(resource, { change, current }, (changes) => this.#store.writeAfter(changes));
  }

  /** Again where what belongs to the object was changed meanwhile. */
  async #withCompanions(
    resource: ServedVersion,
    { change, current }: { change: ObjectChange; current: StoredObject | undefined },
    write: (changes: readonly ObjectChange[]) => Promise<StoredObject | 'companion changed' | undefined>,
  ): Promise<StoredObject | undefined> {
    const object = change.type === 'delete' ? undefined : change.object;
    for (let attempt = 0; attempt < TRIES; attempt++) {
      const companions = resource.strategy.companions?.(object, current?.parse()) ?? [];
      const stored = await write([...companions, change]);
      if (stored !== 'companion changed') return stored;
    }
    throw failure(500, `what belongs to ${change.groupResource} "${change.name}" is changed by others: try again`);
  }
}

function changeOf(
  type: ObjectChange['type'],
  resource: ServedVersion,
  object: Draft,
  current: StoredObject | undefined,
): ObjectChange {
  return {
    type,
    groupResource: resource.groupResource,
    namespace: object.metadata.namespace ?? '',
    name: object.metadata.name ?? '',
    expected: current?.revision ?? 0,
    object: resource.conversion ? resource.conversion.toStorage(object) : object,
  };
}
