import {
  applyDefaults,
  cloneJson,
  deepEqual,
  type FieldError,
  forbidden,
  formatTime,
  invalid,
  type KubeObject,
  NAMESPACES,
  notFound,
  StatusError,
} from '@asterism/machinery';
import type { ObjectStore } from '../storage/object-store.ts';
import type { SelectableFields, StoredObject } from '../storage/stored-object.ts';
import { type AdmissionPipeline, type AdmissionSubject, requestOf, type WriteOperation } from './admission-pipeline.ts';
import type { WriteCommitter } from './commit-write.ts';
import { EnumCheck } from './enum-check.ts';
import { dedupeOwners } from './metadata.ts';
import type { WriteContext } from './registry.ts';
import type { ServedVersion } from './served-version.ts';
import type { Draft, StrategyContext } from './strategy.ts';
import {
  finalizerWarnings,
  specChanged,
  validateFinalizerNames,
  validateMetadata,
  validateMetadataUpdate,
} from './validate-metadata.ts';

export interface WritePipelineOptions {
  store: ObjectStore;
  clock: () => number;
  random: () => number;
  admission: AdmissionPipeline;
  committer: WriteCommitter;
}

/** The steps that every create and update takes between its body and the storage. */
export class WritePipeline {
  readonly store: ObjectStore;
  readonly clock: () => number;
  readonly random: () => number;
  readonly admission: AdmissionPipeline;
  readonly committer: WriteCommitter;
  readonly #enums = new EnumCheck();

  constructor(options: WritePipelineOptions) {
    this.store = options.store;
    this.clock = options.clock;
    this.random = options.random;
    this.admission = options.admission;
    this.committer = options.committer;
  }

  strategyContext(context: WriteContext, namespace: string | undefined): StrategyContext {
    return {
      user: context.user,
      now: formatTime(this.clock()),
      namespace,
      dryRun: context.dryRun === true,
      fieldValidation: context.fieldValidation ?? 'Warn',
      random: this.random,
      warn: (text) => context.warn?.(text),
    };
  }

  /** Defaults of a custom resource's schema, and of the kind. */
  applyDefaults(resource: ServedVersion, draft: Draft): void {
    // Elsewhere an empty list is the same as none; here it asks to forget all owners.
    const ownersForgotten = draft.metadata.managedFields?.length === 0;
    // A built-in object got them when it was decoded.
    if (resource.structural && resource.storage === 'custom') applyDefaults(draft, resource.structural);
    resource.strategy.applyDefaults?.(draft);
    if (ownersForgotten) draft.metadata.managedFields = [];
  }

  /** A new object as its kind wants it: no status yet, generation 1. */
  prepareForCreate(resource: ServedVersion, draft: Draft, context: StrategyContext): void {
    const { strategy } = resource;
    if (resource.hasSubresource('status') && !strategy.createsWithStatus) resetStatus(resource, draft);
    const generation = strategy.generation ?? 'spec';
    if (generation !== 'none') draft.metadata.generation = 1;
    strategy.requireCreatable?.(draft.metadata.name ?? '');
    strategy.prepareForCreate?.(draft, context);
    dedupeOwners(draft, context.warn);
  }

  /** The new state of an object: what this endpoint may change from `draft`, the rest from `old`. */
  prepare(
    resource: ServedVersion,
    draft: Draft,
    old: KubeObject,
    { subresource, strategyContext }: { subresource: string | undefined; strategyContext: StrategyContext },
  ): Draft {
    const part = subresource === undefined ? undefined : resource.strategy.parts?.[subresource];
    let prepared = draft;
    if (part) prepared = part(draft, old, strategyContext);
    else if (subresource === 'status') prepared = statusOf(resource, draft, old);
    else {
      if (resource.hasSubresource('status')) putBack(draft, old, 'status');
      resource.strategy.prepareForUpdate?.(draft, old, strategyContext);
    }
    if (subresource !== 'status') raiseGeneration(resource, prepared, old);
    dedupeOwners(prepared, strategyContext.warn);
    return prepared;
  }

  /**
   * Stores what is admitted, or in a dry run only answers as if. Resolves with undefined where the name is taken or somebody else
   * was faster.
   */
  async commit(
    operation: WriteOperation,
    resource: ServedVersion,
    subject: AdmissionSubject & { object: Draft },
    context: WriteContext,
    { current, asDecoded }: { current?: StoredObject; asDecoded: boolean },
  ): Promise<StoredObject | undefined> {
    return await this.committer.commit({
      resource,
      object: subject.object,
      current,
      asDecoded,
      dryRun: context.dryRun === true,
      request: () => requestOf(operation, resource, subject, context),
      requireCreatable: () => this.requireCreatable(resource, subject.namespace, subject.name),
    });
  }

  /** 422 with all faults that the kind, its schema and its strategy find. */
  validate(
    resource: ServedVersion,
    draft: Draft,
    old: KubeObject | undefined,
    { warn, subresource }: { warn: (text: string) => void; subresource: string | undefined },
  ): void {
    const { strategy } = resource;
    // Hundreds of thousands of faults are too many to be spread as arguments.
    let errors = metadataErrors(resource, draft, old);
    if (old && subresource === 'status' && strategy.validateStatus) {
      errors = errors.concat(strategy.validateStatus(draft, old));
    } else {
      errors = errors.concat(this.#validateBySchema(resource, draft));
      if (!old) errors = errors.concat(strategy.validateCreate?.(draft) ?? []);
      errors = errors.concat(strategy.validate?.(draft) ?? []);
      if (old) errors = errors.concat(strategy.validateUpdate?.(draft, old, subresource) ?? []);
    }
    if (errors.length > 0) throw invalidObject(resource, draft.metadata.name ?? '', errors);
    const why = old && strategy.refuseUpdate?.(draft, old, { subresource, store: this.store });
    if (why !== undefined) throw forbidden(resource.type, draft.metadata.name ?? '', why);
    for (const text of finalizerWarnings(draft.metadata, old?.metadata)) warn(text);
    for (const text of strategy.warnings?.(draft, old, subresource) ?? []) warn(text);
  }

  #validateBySchema(resource: ServedVersion, draft: Draft): FieldError[] {
    const { structural, storage, strategy } = resource;
    // A custom resource's strategy has its schema.
    if (!structural || storage === 'custom' || strategy.validatesEnums) return [];
    return this.#enums.faultsOf(draft, structural);
  }

  /** Asked again right before a new object is stored: its namespace or its kind may have begun to go meanwhile. */
  requireCreatable(resource: ServedVersion, namespace: string | undefined, name: string): void {
    this.requireLivingNamespace(resource, namespace, name);
    resource.strategy.requireCreatable?.(name);
  }

  /** Nothing is created in a namespace that does not exist (404) or is being deleted (403). */
  requireLivingNamespace(resource: ServedVersion, namespace: string | undefined, name: string): void {
    if (!resource.type.namespaced || !namespace) return;
    const found = this.store.get('namespaces', undefined, namespace);
    if (!found) throw notFound(NAMESPACES, namespace);
    if (found.fields(leaving)['metadata.deletionTimestamp'] === '') return;
    const why = `unable to create new content in namespace ${namespace} because it is being terminated`;
    const { status } = forbidden(resource.type, name, why);
    const cause = {
      reason: 'NamespaceTerminating',
      message: `namespace ${namespace} is being terminated`,
      field: 'metadata.namespace',
    };
    throw new StatusError({ ...status, details: { ...status.details, causes: [cause] } });
  }
}

/** What is asked of a namespace at each create in it, and so not parsed each time. */
function leaving({ metadata }: KubeObject): SelectableFields {
  return { 'metadata.deletionTimestamp': metadata?.deletionTimestamp ?? '' };
}

/** An update of the status alone: everything else is as it was, but for metadata of built-in kinds, as upstream. */
function statusOf(resource: ServedVersion, draft: Draft, old: KubeObject): Draft {
  const { managedFields, resourceVersion } = draft.metadata;
  const metadata = keepsMetadata(resource) ? { ...old.metadata } : draft.metadata;
  if (managedFields) metadata.managedFields = managedFields;
  if (resourceVersion) metadata.resourceVersion = resourceVersion;
  if (resource.strategy.statusKeepsLabels) keepLabels(metadata, old);
  const result: Draft = { ...old, metadata };
  putBack(result, draft, 'status');
  resource.strategy.prepareForStatusUpdate?.(result, old);
  return result;
}

/** Whether an update of the status puts all metadata back, as those of custom resources and of some built-in kinds do. */
function keepsMetadata({ storage, strategy }: ServedVersion): boolean {
  const reset = strategy.resetFields?.status;
  return reset ? reset.some((path) => path.length === 1 && path[0] === 'metadata') : storage === 'custom';
}

function keepLabels(metadata: Draft['metadata'], old: KubeObject): void {
  const { labels } = old.metadata ?? {};
  if (labels) metadata.labels = labels;
  else delete metadata.labels;
}

/** `metadata.generation` counts the changes of what a user wants. */
function raiseGeneration(resource: ServedVersion, draft: Draft, old: KubeObject): void {
  const rule = resource.strategy.generation ?? 'spec';
  const { generation } = old.metadata ?? {};
  if (generation === undefined || rule === 'none' || rule === 'initial') return;
  // Without a status subresource the status of a custom resource is a field like any other.
  const status =
    resource.storage === 'custom' && !resource.hasSubresource('status') && !deepEqual(draft.status, old.status);
  if (status || specChanged(draft, old) || (rule === 'metadata' && labelsChanged(draft, old)))
    draft.metadata.generation = generation + 1;
}

/** Upstream checks the metadata of an update in general and again for the kind, and reports what it finds each time. */
function metadataErrors(resource: ServedVersion, { metadata }: Draft, old: KubeObject | undefined): FieldError[] {
  const errors = validateMetadata(resource, metadata);
  const names = validateFinalizerNames(resource, metadata);
  if (!old) return [...errors, ...names];
  const changes = validateMetadataUpdate(metadata, old.metadata ?? {});
  const checks = resource.strategy.metadataChecks ?? 2;
  const times = (count: number, faults: FieldError[]): FieldError[] =>
    faults.length === 0 ? faults : Array.from({ length: count }, () => faults).flat();
  return [...changes, ...changes, ...times(checks, errors), ...times(Math.max(checks - 2, 1), names)];
}

/** 422 with a cause for each fault. */
function invalidObject(
  { type, groupResource }: ServedVersion,
  name: string,
  errors: readonly FieldError[],
): StatusError {
  // The group is that of the stored kind: Events are of none, whatever group they were written to.
  const group = groupResource.split('.').slice(1).join('.');
  return invalid({ kind: type.kind, group }, name, errors);
}

function resetStatus(resource: ServedVersion, draft: Draft): void {
  const zero = resource.structural?.zero?.status;
  if (zero === undefined) delete draft.status;
  else draft.status = cloneJson(zero);
}

function putBack(draft: Draft, old: KubeObject, field: string): void {
  if (Object.hasOwn(old, field)) draft[field] = old[field];
  else delete draft[field];
}

function labelsChanged(draft: Draft, old: KubeObject): boolean {
  return !deepEqual(draft.metadata.labels ?? {}, old.metadata?.labels ?? {});
}
