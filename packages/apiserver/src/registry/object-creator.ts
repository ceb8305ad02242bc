import { alreadyExists, cloneJson, type KubeObject, notFound, StatusError } from '@asterism/machinery';
import type { ObjectStore } from '../storage/object-store.ts';
import type { StoredObject } from '../storage/stored-object.ts';
import type { WriteCommitter } from './commit-write.ts';
import { decodeObject } from './decode-object.ts';
import { defaultObject } from './default-object.ts';
import {
  clearMetadataForCreate,
  dedupeOwners,
  fillGeneratedName,
  fillMetadataForCreate,
  settleNamespace,
} from './metadata.ts';
import type { ObjectRef } from './registry.ts';
import { requireLivingNamespace } from './require-creatable.ts';
import type { ServedVersion } from './served-version.ts';
import type { Draft } from '../contract/strategy.ts';
import type { WritePipeline, WriteSteps } from './write-pipeline.ts';
import type { Creation, Proposal, WriteRequest, WriteResult } from './write.ts';

/** How often a generated name is tried again where it is taken, as upstream. */
const GENERATED_NAME_TRIES = 8;

export interface ObjectCreatorOptions {
  store: ObjectStore;
  pipeline: WritePipeline;
  committer: WriteCommitter;
  /** In [0, 1). */
  random: () => number;
}

/** `create` of whole objects, also by an update or an apply of an object that does not exist. */
export class ObjectCreator implements WriteSteps<Creation, StoredObject> {
  readonly #options: ObjectCreatorOptions;

  constructor(options: ObjectCreatorOptions) {
    this.#options = options;
  }

  async create(request: WriteRequest, body: KubeObject): Promise<StoredObject> {
    const { resource, ref, context } = request;
    const emptied: string[][] = [];
    const draft = decodeObject(resource, body, { ...context, emptied });
    settleNamespace(resource, draft, ref.namespace);
    const { name: given, generateName, namespace } = draft.metadata;
    const isGenerated = !given && generateName;
    for (let attempt = 1; ; attempt++) {
      // Only a generated name is tried again, and only then the draft is needed as it was.
      const object = isGenerated ? cloneJson(draft) : draft;
      const { stored, name } = await this.#try(request, { object, tracked: false, emptied });
      if (stored) return stored;
      if (isGenerated && attempt < GENERATED_NAME_TRIES) continue;
      throw generateName ? noUniqueName(resource, name) : this.#taken(resource, { namespace, name });
    }
  }

  /** For `missing` of an update: 404 for kinds that only `create` makes. */
  async createOnUpdate(request: WriteRequest, proposal: Proposal): Promise<WriteResult | undefined> {
    const { resource, context } = request;
    const { object } = proposal;
    if (!resource.strategy.createOnUpdate || context.subresource) {
      throw notFound(resource.type, object.metadata.name ?? '');
    }
    return this.createMissing(request, { ...proposal, object: cloneJson(object) });
  }

  /** Resolves with undefined if another request has created it meanwhile: then there is an object to change. */
  async createMissing(request: WriteRequest, proposal: Proposal): Promise<WriteResult | undefined> {
    await request.context.authorizeCreate?.();
    const { stored } = await this.#try(request, proposal);
    return stored && { stored, created: true };
  }

  /** `stored` is undefined if the name is taken. */
  async #try(request: WriteRequest, proposal: Proposal): Promise<{ stored: StoredObject | undefined; name: string }> {
    const { pipeline } = this.#options;
    const { namespace, name = '' } = proposal.object.metadata;
    const write: Creation = {
      ...pipeline.begin(request, namespace),
      ...proposal,
      operation: 'CREATE',
      name,
      current: undefined,
      old: undefined,
      decoded: !hasDefaultStatus(request.resource),
    };
    const stored = await pipeline.run(write, this);
    return { stored, name: write.name };
  }

  open(write: Creation): void {
    requireLivingNamespace(this.#options.store, write);
    clearMetadataForCreate(write.object);
    defaultObject(write.resource, write.object);
  }

  prepare(write: Creation): void {
    const { object, strategyContext } = write;
    if (write.isReplaced) clearMetadataForCreate(object);
    fillMetadataForCreate(object, strategyContext);
    fillGeneratedName(object, this.#options.random);
    write.name = object.metadata.name ?? '';
    prepareCreation(write);
  }

  commit(write: Creation): Promise<StoredObject | undefined> {
    return this.#options.committer.commit(write);
  }

  /** 409 for a name that is taken. If its object is being deleted, the message says so: the client may try again. */
  #taken(resource: ServedVersion, { namespace, name }: ObjectRef): StatusError {
    const { status } = alreadyExists(resource.type, name);
    const there = this.#options.store.get(resource.groupResource, namespace, name)?.parse();
    if (!there?.metadata?.deletionTimestamp) return new StatusError(status);
    return new StatusError({ ...status, message: `object is being deleted: ${status.message}` });
  }
}

/** A new object as its kind requires it: no status yet, generation 1. */
function prepareCreation({ resource, object, strategyContext }: Creation): void {
  const { strategy } = resource;
  if (resource.hasSubresource('status') && !strategy.createsWithStatus) resetStatus(resource, object);
  if ((strategy.generation ?? 'none') !== 'none') object.metadata.generation = 1;
  strategy.requireCreatable?.(object.metadata.name ?? '');
  strategy.prepareForCreate?.(object, strategyContext);
  dedupeOwners(object, strategyContext.warn);
}

function resetStatus(resource: ServedVersion, draft: Draft): void {
  const zero = resource.structural?.zero?.status;
  if (zero === undefined) delete draft.status;
  else draft.status = cloneJson(zero);
}

/** Whether an object without a status, as it is created, is shown with one. */
function hasDefaultStatus({ structural }: ServedVersion): boolean {
  return structural?.field('status')?.defaultValue !== undefined;
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
