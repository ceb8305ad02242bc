import { cloneJson, deepEqual, failure, formatTime, type KubeObject, notFound } from '@asterism/machinery';
import { formatStorageKey } from '../storage/storage.ts';
import type { StoredObject } from '../storage/stored-object.ts';
import type { AdmissionView } from './admission-pipeline.ts';
import { decodeObject } from './decode-object.ts';
import { sameOwners, trackFieldsInTurns } from './field-ownership.ts';
import { isDeletionComplete } from './is-deletion-complete.ts';
import { KeyedTurns } from './keyed-turns.ts';
import { LongWork } from './long-work.ts';
import { carryMetadata, settleNamespace } from './metadata.ts';
import type { ObjectCreator } from './object-creator.ts';
import { requireReadable } from './object-reader.ts';
import { decodePatched, patchObjectInSteps } from './patch-object.ts';
import { ownership, type Proposal } from './proposal.ts';
import type { ObjectRef, Patch, WriteContext } from './registry.ts';
import { requireGivenRevision, requireName, requireNoUid, requireSameObject } from './require-identity.ts';
import { requireRevision, requireSeen } from './require-seen.ts';
import type { ServedVersion } from './served-version.ts';
import type { Draft } from './strategy.ts';
import { unsaved } from './unsaved.ts';
import type { WritePipeline } from './write-pipeline.ts';
import type { WriteResult } from './write-result.ts';

/** How often an unconditional change is made again on what another one left. */
const CONFLICT_TRIES = 100;

/** `update` and `patch` of whole objects and of their status. */
export class ObjectWriter {
  readonly #pipeline: WritePipeline;
  readonly #creator: ObjectCreator;
  readonly #turns = new KeyedTurns();

  constructor(pipeline: WritePipeline, creator: ObjectCreator) {
    this.#pipeline = pipeline;
    this.#creator = creator;
  }

  async update(resource: ServedVersion, ref: ObjectRef, body: KubeObject, context: WriteContext): Promise<WriteResult> {
    const emptied: string[][] = [];
    const work = new LongWork();
    const decoded = decodeObject(resource, body, { ...context, emptied });
    if (work.isDue) await work.giveWay();
    settleNamespace(resource, decoded, ref.namespace);
    requireName(decoded, ref.name);
    return this.#change(resource, ref, context, {
      missing: () => this.#creator.createOnUpdate(resource, { draft: decoded, tracked: false, emptied }, context),
      draftOf: (old) => {
        requireGivenRevision(resource, ref.name, decoded);
        requireSameObject(resource, ref.name, decoded, old);
        const draft = cloneJson(decoded);
        this.#pipeline.applyDefaults(resource, draft);
        return { draft, tracked: false, emptied, decoded: true };
      },
    });
  }

  async patch(resource: ServedVersion, ref: ObjectRef, patch: Patch, context: WriteContext): Promise<WriteResult> {
    return this.#change(resource, ref, context, {
      missing: async () => {
        if (patch.type !== 'apply' || context.subresource) throw notFound(resource.type, ref.name);
        const proposal = await this.#patched(resource, ref, undefined, patch, context);
        const { draft } = proposal;
        requireRevision(draft);
        requireNoUid(resource, ref.name, draft);
        delete draft.metadata.resourceVersion;
        return this.#creator.createMissing(resource, proposal, context);
      },
      draftOf: (old, bytes) => this.#patched(resource, ref, old, patch, { ...context, liveBytes: bytes }),
    });
  }

  /**
   * Reads, lets `change` make the new object, and writes; again where somebody was faster. For callers within the server:
   * without a `fieldManager` nobody comes to own what they change.
   */
  async rewrite(
    resource: ServedVersion,
    ref: ObjectRef,
    context: WriteContext,
    change: (old: KubeObject) => KubeObject,
    view?: AdmissionView,
  ): Promise<StoredObject> {
    const { stored } = await this.#change(resource, ref, context, {
      missing: () => Promise.reject(notFound(resource.type, ref.name)),
      draftOf: (old) => ({ draft: unconditional(change(old)), tracked: context.fieldManager === undefined, view }),
    });
    return stored;
  }

  /** The time as metadata has it. */
  times(): { now: string } {
    return { now: formatTime(this.#pipeline.clock()) };
  }

  async #patched(
    resource: ServedVersion,
    ref: ObjectRef,
    old: KubeObject | undefined,
    patch: Patch,
    context: WriteContext & { liveBytes?: number },
  ): Promise<Proposal> {
    const work = new LongWork();
    const now = this.#pipeline.strategyContext(context, ref.namespace).now;
    const patched = await work.run(patchObjectInSteps(resource, old, patch, { ...context, now }));
    if (work.isDue) await work.giveWay();
    const emptied: string[][] = [];
    const draft = decodePatched(resource, old, patched, patch, { ...context, emptied });
    if (work.isDue) await work.giveWay();
    settleNamespace(resource, draft, ref.namespace);
    requireName(draft, ref.name);
    this.#pipeline.applyDefaults(resource, draft);
    return { draft, tracked: patch.type === 'apply', emptied, decoded: true };
  }

  /** Reads, changes and writes; where somebody was faster again, in turn with the others to whom that happened. */
  async #change(resource: ServedVersion, ref: ObjectRef, context: WriteContext, change: Change): Promise<WriteResult> {
    const first = await this.#attempt(resource, ref, context, change);
    if (first) return first;
    const key = formatStorageKey({
      groupResource: resource.groupResource,
      namespace: ref.namespace ?? '',
      name: ref.name,
    });
    return this.#turns.run(key, async () => {
      for (let attempt = 1; attempt < CONFLICT_TRIES; attempt++) {
        const result = await this.#attempt(resource, ref, context, change);
        if (result) return result;
      }
      const what = `${resource.groupResource} "${ref.name}"`;
      throw failure(500, `${what} is changed by others faster than by this request: try again`);
    });
  }

  /** Resolves with undefined where somebody was faster. */
  async #attempt(
    resource: ServedVersion,
    ref: ObjectRef,
    context: WriteContext,
    change: Change,
  ): Promise<WriteResult | undefined> {
    requireReadable(this.#pipeline.store, resource, ref);
    const current = this.#pipeline.store.get(resource.groupResource, ref.namespace, ref.name);
    if (!current) return change.missing();
    const work = new LongWork();
    const live = resource.view(current);
    const old = live.parse();
    if (work.isDue) await work.giveWay();
    const proposal = await change.draftOf(old, live.size);
    requireSeen(resource, ref.name, proposal.draft, old);
    if (work.isDue) await work.giveWay();
    const stored = await this.#store(resource, proposal, { current, old }, context);
    return stored && { stored, created: false };
  }

  /** Resolves with undefined where somebody was faster. */
  async #store(
    resource: ServedVersion,
    { draft: proposed, tracked, emptied, view, decoded }: Proposal,
    { current, old }: { current: StoredObject; old: KubeObject },
    context: WriteContext,
  ): Promise<StoredObject | undefined> {
    const pipeline = this.#pipeline;
    const { namespace, name = '' } = old.metadata ?? {};
    const strategyContext = pipeline.strategyContext(context, namespace);
    const work = new LongWork();
    const carried = { ...proposed, metadata: { ...proposed.metadata } };
    carryMetadata(carried, old);
    const owner = ownership(context, strategyContext.now, emptied);
    if (!tracked) await trackFieldsInTurns(resource, { draft: carried, old, work }, owner);
    const subject = { object: carried, old, name, namespace, view };
    if (work.isDue) await work.giveWay();
    const mutated = (await pipeline.admission.mutate('UPDATE', resource, subject, context)) ?? carried;
    if (mutated !== carried) carryMetadata(mutated, old);
    const object = pipeline.prepare(resource, mutated, old, { subresource: context.subresource, strategyContext });
    if (work.isDue) await work.giveWay();
    await pipeline.admission.check('UPDATE', resource, { ...subject, object }, context);
    if (work.isDue) await work.giveWay();
    pipeline.validate(resource, object, old, { warn: strategyContext.warn, subresource: context.subresource });
    if (work.isDue) await work.giveWay();
    await pipeline.admission.admitValid('UPDATE', resource, { ...subject, object }, context);
    if (work.isDue) await work.giveWay();
    if (isUnchanged(object, old) && isStoredSo(resource, old, current)) return resource.view(current);
    if (!isDeletionComplete(resource, object)) {
      const asDecoded = decoded === true && mutated === carried;
      return pipeline.commit('UPDATE', resource, { ...subject, object }, context, { current, asDecoded });
    }
    return this.#finish(resource, object, current, context);
  }

  /** An object that waits to be deleted goes when its last finalizer does. */
  async #finish(
    resource: ServedVersion,
    object: Draft,
    current: StoredObject,
    context: WriteContext,
  ): Promise<StoredObject | undefined> {
    if (context.dryRun) return unsaved(object, current.revision);
    const gone = await this.#pipeline.committer.remove(resource, object, current);
    return gone && unsaved(object, current.revision);
  }
}

/** How a write makes the new object of the old one; asked again where somebody else was faster. */
interface Change {
  /** Resolves with undefined where it is missing no more. */
  missing(): Promise<WriteResult | undefined>;
  /** `bytes`: how long the JSON of `old` is. */
  draftOf(old: KubeObject, bytes: number): Proposal | Promise<Proposal>;
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
