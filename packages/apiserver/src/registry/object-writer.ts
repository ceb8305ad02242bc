import {
  cloneJson,
  alreadyExists,
  conflict,
  deepEqual,
  failure,
  type KubeObject,
  notFound,
  StatusError,
} from '@asterism/machinery';
import { formatStorageKey } from '../storage/storage.ts';
import type { StoredObject } from '../storage/stored-object.ts';
import type { AdmissionView } from './admission-pipeline.ts';
import { decodeObject } from './decode-object.ts';
import { type Ownership, sameOwners, trackFieldsInTurns } from './field-ownership.ts';
import { KeyedTurns } from './keyed-turns.ts';
import { LongWork } from './long-work.ts';
import {
  carryMetadata,
  clearMetadataForCreate,
  fillGeneratedName,
  fillMetadataForCreate,
  formatTime,
  settleNamespace,
} from './metadata.ts';
import { requireReadable } from './object-reader.ts';
import { decodePatched, patchObjectInSteps } from './patch-object.ts';
import type { ObjectRef, Patch, WriteContext } from './registry.ts';
import { requireRevision, requireSeen } from './require-seen.ts';
import type { ServedVersion } from './served-version.ts';
import type { Draft } from './strategy.ts';
import { unsaved } from './unsaved.ts';
import type { WritePipeline } from './write-pipeline.ts';

/** An object as it is now, and whether this write made it. */
export interface WriteResult {
  stored: StoredObject;
  created: boolean;
}

/** How often a generated name is tried again where it is taken, as upstream. */
const GENERATED_NAME_TRIES = 8;
/** How often an unconditional change is made again on what another one left. */
const CONFLICT_TRIES = 100;

/** `create`, `update` and `patch` of whole objects and of their status. */
export class ObjectWriter {
  readonly #pipeline: WritePipeline;
  readonly #turns = new KeyedTurns();

  constructor(pipeline: WritePipeline) {
    this.#pipeline = pipeline;
  }

  async create(resource: ServedVersion, body: KubeObject, context: WriteContext): Promise<StoredObject> {
    const emptied: string[][] = [];
    const work = new LongWork();
    const draft = decodeObject(resource, body, { ...context, emptied });
    if (work.isDue) await work.giveWay();
    settleNamespace(resource, draft, context.namespace);
    return this.#createDraft(resource, { draft, tracked: false, emptied }, context);
  }

  async update(resource: ServedVersion, ref: ObjectRef, body: KubeObject, context: WriteContext): Promise<WriteResult> {
    const emptied: string[][] = [];
    const work = new LongWork();
    const decoded = decodeObject(resource, body, { ...context, emptied });
    if (work.isDue) await work.giveWay();
    settleNamespace(resource, decoded, ref.namespace);
    requireName(decoded, ref.name);
    return this.#change(resource, ref, context, {
      missing: () => this.#createOnUpdate(resource, { draft: decoded, tracked: false, emptied }, context),
      draftOf: (old) => {
        if (decoded.metadata.resourceVersion === undefined && resource.strategy.requiresResourceVersion) {
          throw resourceVersionRequired(resource, ref.name);
        }
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
        if (draft.metadata.uid) throw conflict(resource.type, ref.name, missingObject(draft.metadata.uid));
        delete draft.metadata.resourceVersion;
        return this.#createMissing(resource, proposal, context);
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

  async #createOnUpdate(
    resource: ServedVersion,
    proposal: Proposal,
    context: WriteContext,
  ): Promise<WriteResult | undefined> {
    const { draft } = proposal;
    if (!resource.strategy.createOnUpdate || context.subresource) {
      throw notFound(resource.type, draft.metadata.name ?? '');
    }
    return this.#createMissing(resource, { ...proposal, draft: cloneJson(draft) }, context);
  }

  /** Resolves with undefined where somebody else has created it meanwhile: then there is something to change. */
  async #createMissing(
    resource: ServedVersion,
    proposal: Proposal,
    context: WriteContext,
  ): Promise<WriteResult | undefined> {
    await context.authorizeCreate?.();
    const stored = await this.#tryCreate(resource, proposal, context);
    return typeof stored === 'string' ? undefined : { stored, created: true };
  }

  async #createDraft(resource: ServedVersion, proposal: Proposal, context: WriteContext): Promise<StoredObject> {
    const { draft } = proposal;
    const { generateName } = draft.metadata;
    const generated = !draft.metadata.name && generateName;
    for (let attempt = 1; ; attempt++) {
      // A name that is given is tried once: only for another try the draft is needed as it was.
      const attempted = generated ? { ...proposal, draft: cloneJson(draft) } : proposal;
      const stored = await this.#tryCreate(resource, attempted, context);
      if (typeof stored !== 'string') return stored;
      if (generated && attempt < GENERATED_NAME_TRIES) continue;
      if (generateName) throw noUniqueName(resource, stored);
      throw this.#taken(resource, { namespace: draft.metadata.namespace, name: stored });
    }
  }

  /** 409 for a name that is taken; one whose object is on its way out may be tried again. */
  #taken(resource: ServedVersion, { namespace, name }: ObjectRef): StatusError {
    const { status } = alreadyExists(resource.type, name);
    const there = this.#pipeline.store.get(resource.groupResource, namespace, name)?.parse();
    if (!there?.metadata?.deletionTimestamp) return new StatusError(status);
    return new StatusError({ ...status, message: `object is being deleted: ${status.message}` });
  }

  /** Resolves with the name where it is taken. */
  async #tryCreate(
    resource: ServedVersion,
    { draft, tracked, emptied }: Proposal,
    context: WriteContext,
  ): Promise<StoredObject | string> {
    const pipeline = this.#pipeline;
    const { namespace } = draft.metadata;
    const strategyContext = pipeline.strategyContext(context, namespace);
    const subject = { object: draft, old: undefined, name: draft.metadata.name ?? '', namespace };
    const work = new LongWork();
    pipeline.requireLivingNamespace(resource, namespace, subject.name);
    clearMetadataForCreate(draft);
    pipeline.applyDefaults(resource, draft);
    if (work.isDue) await work.giveWay();
    // Before the kind and admission have their say: what they set is nobody's.
    const owner = ownership(context, strategyContext.now, emptied);
    if (!tracked) await trackFieldsInTurns(resource, { draft, old: undefined, work }, owner);
    if (work.isDue) await work.giveWay();
    const object = (await pipeline.admission.mutate('CREATE', resource, subject, context)) ?? draft;
    if (object !== draft) clearMetadataForCreate(object);
    fillMetadataForCreate(object, strategyContext);
    fillGeneratedName(object, pipeline.random);
    const { name = '' } = object.metadata;
    pipeline.prepareForCreate(resource, object, strategyContext);
    if (work.isDue) await work.giveWay();
    await pipeline.admission.check('CREATE', resource, { ...subject, object, name }, context);
    if (work.isDue) await work.giveWay();
    pipeline.validate(resource, object, undefined, { warn: strategyContext.warn, subresource: undefined });
    if (work.isDue) await work.giveWay();
    await pipeline.admission.admitValid('CREATE', resource, { ...subject, object, name }, context);
    if (work.isDue) await work.giveWay();
    const asDecoded = object === draft && !hasDefaultStatus(resource);
    return (await pipeline.commit('CREATE', resource, { ...subject, object, name }, context, { asDecoded })) ?? name;
  }
}

/** How a write makes the new object of the old one; asked again where somebody else was faster. */
interface Change {
  /** Resolves with undefined where it is missing no more. */
  missing(): Promise<WriteResult | undefined>;
  /** `bytes`: how long the JSON of `old` is. */
  draftOf(old: KubeObject, bytes: number): Proposal | Promise<Proposal>;
}

interface Proposal {
  draft: Draft;
  /** managedFields are as they shall be. */
  tracked: boolean;
  /** Pruned and given the defaults of its schema. */
  decoded?: boolean;
  /** How admission sees it. */
  view?: AdmissionView | undefined;
  /** Lists that were given as empty and are owned so. */
  emptied?: readonly (readonly string[])[];
}

function ownership({ fieldManager, subresource }: WriteContext, now: string, emptied: Proposal['emptied']): Ownership {
  return { manager: fieldManager, subresource, now, emptied };
}

/** Whether an object without a status, as it is created, is shown with one. */
function hasDefaultStatus({ structural }: ServedVersion): boolean {
  return structural?.field('status')?.defaultValue !== undefined;
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

/** Whether nothing holds an object back that is being deleted. */
export function isDeletionComplete(resource: ServedVersion, { metadata, spec }: KubeObject): boolean {
  if (!metadata?.deletionTimestamp || (metadata.finalizers?.length ?? 0) > 0) return false;
  if (resource.groupResource === 'namespaces')
    return ((spec as { finalizers?: unknown[] } | undefined)?.finalizers?.length ?? 0) === 0;
  return (metadata.deletionGracePeriodSeconds ?? 0) === 0;
}

/** 400 where the object says another name than the URL, or none. */
export function requireName({ metadata }: Draft, name: string): void {
  if (!metadata.name) {
    throw failure(400, `the name of the object (${name} based on URL) was undeterminable: name must be provided`);
  }
  if (metadata.name !== name) {
    throw failure(400, `the name of the object (${metadata.name}) does not match the name on the URL (${name})`);
  }
}

/** A PUT of an object with another uid is meant for another object of the same name. */
function requireSameObject(resource: ServedVersion, name: string, { metadata: { uid } }: Draft, old: KubeObject): void {
  const current = old.metadata ?? {};
  if (uid && uid !== current.uid) {
    const place =
      resource.storage === 'custom' ? `${resource.type.group}/${resource.type.resource}` : resource.type.resource;
    const key = `/registry/${place}/${current.namespace ? `${current.namespace}/` : ''}${name}`;
    throw conflict(
      resource.type,
      name,
      `StorageError: invalid object, Code: 4, Key: ${key}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: ${uid}, UID in object meta: ${current.uid}`,
    );
  }
}

/** 409 for an object that has a `generateName`, whether its name was made of it or given. */
function noUniqueName({ type }: ServedVersion, name: string): StatusError {
  const { status } = alreadyExists(type, name);
  return new StatusError({
    ...status,
    message: `${status.message}, the server was not able to generate a unique name for the object`,
    details: { ...status.details, retryAfterSeconds: 1 },
  });
}

function missingObject(uid: string): string {
  return `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`;
}

/** Upstream names the resource here, where other 422s name the kind. */
function resourceVersionRequired(resource: ServedVersion, name: string): StatusError {
  const { group, resource: plural } = resource.type;
  const cause = {
    reason: 'FieldValueInvalid',
    message: 'Invalid value: 0: must be specified for an update',
    field: 'metadata.resourceVersion',
  };
  return failure(422, `${resource.groupResource} "${name}" is invalid: ${cause.field}: ${cause.message}`, {
    details: { name, ...(group ? { group } : {}), kind: plural, causes: [cause] },
  });
}
