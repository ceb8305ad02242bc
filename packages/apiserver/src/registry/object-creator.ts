import { alreadyExists, cloneJson, type KubeObject, notFound, StatusError } from '@asterism/machinery';
import type { StoredObject } from '../storage/stored-object.ts';
import { decodeObject } from './decode-object.ts';
import { trackFieldsInTurns } from './field-ownership.ts';
import { LongWork } from './long-work.ts';
import { clearMetadataForCreate, fillGeneratedName, fillMetadataForCreate, settleNamespace } from './metadata.ts';
import { ownership, type Proposal } from './proposal.ts';
import type { ObjectRef, WriteContext } from './registry.ts';
import type { ServedVersion } from './served-version.ts';
import type { WritePipeline } from './write-pipeline.ts';
import type { WriteResult } from './write-result.ts';

/** How often a generated name is tried again where it is taken, as upstream. */
const GENERATED_NAME_TRIES = 8;

/** `create` of whole objects, also by an update or an apply of an object that does not exist. */
export class ObjectCreator {
  readonly #pipeline: WritePipeline;

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

  /** For `missing` of an update: 404 for kinds that only `create` makes. */
  async createOnUpdate(
    resource: ServedVersion,
    proposal: Proposal,
    context: WriteContext,
  ): Promise<WriteResult | undefined> {
    const { draft } = proposal;
    if (!resource.strategy.createOnUpdate || context.subresource) {
      throw notFound(resource.type, draft.metadata.name ?? '');
    }
    return this.createMissing(resource, { ...proposal, draft: cloneJson(draft) }, context);
  }

  /** Resolves with undefined where somebody else has created it meanwhile: then there is something to change. */
  async createMissing(
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
