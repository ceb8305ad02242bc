import { cloneJson, deepEqual, failure, type KubeObject, notFound } from '@asterism/machinery';
import type { ObjectStore } from '../storage/object-store.ts';
import { formatStorageKey } from '../storage/storage.ts';
import type { StoredObject } from '../storage/stored-object.ts';
import type { WriteCommitter } from './commit-write.ts';
import { decodeObject } from './decode-object.ts';
import { defaultObject } from './default-object.ts';
import { sameOwners } from './field-ownership.ts';
import { isDeletionComplete } from './is-deletion-complete.ts';
import { KeyedTurns } from './keyed-turns.ts';
import { carryMetadata, formatTime, settleNamespace } from './metadata.ts';
import type { ObjectCreator } from './object-creator.ts';
import { requireReadable } from './object-reader.ts';
import { decodePatched, patchObjectInSteps } from './patch-object.ts';
import { prepareUpdate } from './prepare-update.ts';
import type { Patch } from './registry.ts';
import { requireGivenRevision, requireName, requireNoUid, requireSameObject } from './require-identity.ts';
import { requireRevision, requireSeen } from './require-seen.ts';
import type { ServedVersion } from './served-version.ts';
import { unsaved } from './unsaved.ts';
import type { WritePipeline, WriteSteps } from './write-pipeline.ts';
import type { WriteResult, AdmissionView, Proposal, Update, WriteRequest } from './write.ts';
import type { Draft } from '../contract/strategy.ts';

/** How often an unconditional change is made again on what another one left. */
const CONFLICT_TRIES = 100;

export interface ObjectWriterOptions {
  store: ObjectStore;
  pipeline: WritePipeline;
  committer: WriteCommitter;
  creator: ObjectCreator;
  /** Milliseconds since 1970. */
  clock: () => number;
}

/** `update` and `patch` of whole objects and of their status. */
export class ObjectWriter implements WriteSteps<Update, StoredObject> {
  readonly #options: ObjectWriterOptions;
  readonly #turns = new KeyedTurns();

  constructor(options: ObjectWriterOptions) {
    this.#options = options;
  }

  async update(request: WriteRequest, body: KubeObject): Promise<WriteResult> {
    const { resource, ref, context } = request;
    const emptied: string[][] = [];
    const decoded = decodeObject(resource, body, { ...context, emptied });
    settleNamespace(resource, decoded, ref.namespace);
    requireName(decoded, ref.name);
    return this.#change(request, {
      missing: () => this.#options.creator.createOnUpdate(request, { object: decoded, tracked: false, emptied }),
      propose: (old) => {
        requireGivenRevision(resource, ref.name, decoded);
        requireSameObject(resource, ref.name, decoded, old);
        const object = cloneJson(decoded);
        defaultObject(resource, object);
        return { object, tracked: false, emptied, decoded: true };
      },
    });
  }

  async patch(request: WriteRequest, patch: Patch): Promise<WriteResult> {
    const { resource, ref, context } = request;
    return this.#change(request, {
      missing: async () => {
        if (patch.type !== 'apply' || context.subresource) throw notFound(resource.type, ref.name);
        const proposal = await this.#patched(request, patch);
        const { object } = proposal;
        requireRevision(object);
        requireNoUid(resource, ref.name, object);
        delete object.metadata.resourceVersion;
        return this.#options.creator.createMissing(request, proposal);
      },
      propose: (old, bytes) => this.#patched(request, patch, { old, bytes }),
    });
  }

  /**
   * Reads, lets `change` make the new object, and writes; again if another write was faster. For callers within the server:
   * without a `fieldManager` nobody comes to own what they change.
   */
  async rewrite(
    request: WriteRequest,
    change: (old: KubeObject) => KubeObject,
    view?: AdmissionView,
  ): Promise<StoredObject> {
    const { resource, ref, context } = request;
    const { stored } = await this.#change(request, {
      missing: () => Promise.reject(notFound(resource.type, ref.name)),
      propose: (old) => ({ object: unconditional(change(old)), tracked: context.fieldManager === undefined, view }),
    });
    return stored;
  }

  async #patched(request: WriteRequest, patch: Patch, live?: { old: KubeObject; bytes: number }): Promise<Proposal> {
    const { resource, ref, context, work } = request;
    const now = formatTime(this.#options.clock());
    const patching = { ...context, now, liveBytes: live?.bytes };
    const patched = await work.run(patchObjectInSteps(resource, live?.old, patch, patching));
    const emptied: string[][] = [];
    const object = await work.step(() => decodePatched(resource, live?.old, patched, patch, { ...context, emptied }));
    await work.step(() => {
      settleNamespace(resource, object, ref.namespace);
      requireName(object, ref.name);
      defaultObject(resource, object);
    });
    return { object, tracked: patch.type === 'apply', emptied, decoded: true };
  }

  /** Reads, changes and writes. After a conflict it tries again, in turn with the others that had one. */
  async #change(request: WriteRequest, change: Change): Promise<WriteResult> {
    const first = await this.#attempt(request, change);
    if (first) return first;
    const { groupResource } = request.resource;
    const { namespace = '', name } = request.ref;
    return this.#turns.run(formatStorageKey({ groupResource, namespace, name }), async () => {
      for (let attempt = 1; attempt < CONFLICT_TRIES; attempt++) {
        const result = await this.#attempt(request, change);
        if (result) return result;
      }
      throw failure(500, `${groupResource} "${name}" is changed by others faster than by this request: try again`);
    });
  }

  /** Resolves with undefined if another write was faster. */
  async #attempt(request: WriteRequest, change: Change): Promise<WriteResult | undefined> {
    const { resource, ref, work } = request;
    const { store, pipeline } = this.#options;
    requireReadable(store, resource, ref);
    const current = store.get(resource.groupResource, ref.namespace, ref.name);
    if (!current) return change.missing();
    const live = resource.view(current);
    const old = await work.step(() => live.parse());
    const proposal = await work.step(() => change.propose(old, live.size));
    const { namespace, name = '' } = old.metadata ?? {};
    const write: Update = {
      ...pipeline.begin(request, namespace),
      ...proposal,
      operation: 'UPDATE',
      name,
      current,
      old,
    };
    const stored = await pipeline.run(write, this);
    return stored && { stored, created: false };
  }

  open(write: Update): void {
    const { resource, name, object, old } = write;
    requireSeen(resource, name, object, old);
    write.object = { ...object, metadata: { ...object.metadata } };
    carryMetadata(write.object, old);
  }

  prepare(write: Update): void {
    write.object = prepareUpdate(write);
  }

  /** Stores the object. If it waits to be deleted and its last finalizer is removed, it is deleted. */
  async commit(write: Update): Promise<StoredObject | undefined> {
    const { resource, object, old, current } = write;
    const { committer } = this.#options;
    if (isUnchanged(object, old) && isStoredSo(resource, old, current)) return resource.view(current);
    if (!isDeletionComplete(resource, object)) return committer.commit(write);
    if (write.strategyContext.dryRun) return unsaved(object, current.revision);
    const gone = await committer.remove(resource, object, current);
    return gone && unsaved(object, current.revision);
  }
}

/** How a write makes the new object of the old one. It is called again if another write was faster. */
interface Change {
  /** Resolves with undefined if the object exists by now. */
  missing(): Promise<WriteResult | undefined>;
  /** `bytes`: how long the JSON of `old` is. */
  propose(old: KubeObject, bytes: number): Proposal | Promise<Proposal>;
}

function unconditional(object: KubeObject): Draft {
  const draft = cloneJson(object) as Draft;
  delete draft.metadata.resourceVersion;
  return draft;
}

function isUnchanged(object: Draft, old: KubeObject): boolean {
  const { managedFields, ...metadata } = object.metadata;
  const { managedFields: oldManagedFields, ...oldMetadata } = old.metadata ?? {};
  return (
    deepEqual({ ...object, metadata }, { ...old, metadata: oldMetadata }) && sameOwners(managedFields, oldManagedFields)
  );
}

/** Whether `old` is stored as it would be written: not in a former version, and with the defaults that it is shown with. */
function isStoredSo({ conversion }: ServedVersion, old: KubeObject, current: StoredObject): boolean {
  return conversion === undefined || deepEqual(conversion.toStorage(old), current.parse());
}
