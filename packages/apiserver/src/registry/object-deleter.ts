import {
  conflict,
  failure,
  type FieldError,
  fieldNotSupported,
  forbidden,
  invalid,
  type KubeObject,
  notFound,
  success,
  formatTime,
} from '@asterism/machinery';
import type { ObjectStore } from '../storage/object-store.ts';
import { IGNORE_READ_ERROR } from '../storage/storage-read-error.ts';
import type { StoredObject } from '../storage/stored-object.ts';
import type { WriteCommitter } from './commit-write.ts';
import { isDeletionComplete } from './is-deletion-complete.ts';
import { type ObjectReader, requireReadable } from './object-reader.ts';
import type { Deleted, Selection, StoredList } from './registry.ts';
import type { DeleteOptions } from '../contract/delete-options.ts';
import type { ServedVersion } from './served-version.ts';
import { unsaved } from './unsaved.ts';
import type { WritePipeline, WriteSteps } from './write-pipeline.ts';
import type { Draft } from '../contract/strategy.ts';
import { invalidValue } from './invalid-value.ts';
import { type Deletion, WriteRequest } from './write.ts';

/** Finalizers with which the garbage collector is told what to do with dependents first. */
export const ORPHAN_FINALIZER = 'orphan';
export const FOREGROUND_FINALIZER = 'foregroundDeletion';
const WAITING_FINALIZERS: Readonly<Record<string, string>> = {
  Orphan: ORPHAN_FINALIZER,
  Foreground: FOREGROUND_FINALIZER,
};

const CONFLICT_TRIES = 100;
/** A grace period ends before the year 10000, which RFC 3339 cannot say. */
const LATEST = Date.UTC(9999, 11, 31, 23, 59, 59);

export interface ObjectDeleterOptions {
  store: ObjectStore;
  reader: ObjectReader;
  pipeline: WritePipeline;
  committer: WriteCommitter;
  /** Milliseconds since 1970. */
  clock: () => number;
}

/** `delete` and `deletecollection`: at once where nothing holds the object, else a mark that its holders see. */
export class ObjectDeleter implements WriteSteps<Deletion, Deleted> {
  readonly #options: ObjectDeleterOptions;

  constructor(options: ObjectDeleterOptions) {
    this.#options = options;
  }

  async delete(request: WriteRequest, options: DeleteOptions): Promise<Deleted> {
    const { resource, ref, context } = request;
    const { store } = this.#options;
    validateDeleteOptions(options);
    for (const text of resource.strategy.deletionWarnings?.(options) ?? []) context.warn?.(text);
    const isDamaged = store.isDamaged(resource.groupResource, ref.namespace ?? '', ref.name);
    if (isDamaged && options[IGNORE_READ_ERROR]) return await this.#discard(request);
    requireMortal(resource, ref.name);
    requireReadable(store, resource, ref);
    return await this.#delete(request, options);
  }

  /** Deletes what the selection holds and answers with a list of it. */
  async deleteCollection(request: WriteRequest, selection: Selection, options: DeleteOptions): Promise<StoredList> {
    const { resource, context, work } = request;
    const { store, reader } = this.#options;
    validateDeleteOptions(options);
    if (options[IGNORE_READ_ERROR]) {
      throw refuseReadErrorOption('', 'is not allowed with DELETECOLLECTION, try again after removing the option');
    }
    for (const text of resource.strategy.deletionWarnings?.(options) ?? []) context.warn?.(text);
    const list = await reader.list(resource, selection);
    for (const item of list.items as readonly StoredObject[]) {
      const { namespace, name = '' } = item.parse().metadata ?? {};
      if (!store.get(resource.groupResource, namespace, name)) continue;
      const each = new WriteRequest(resource, { namespace, name }, context, work);
      await this.#delete(each, options).catch(ignoreNotFound);
    }
    return list;
  }

  /** An object that cannot be read has no finalizers that could be looked at, and no content that admission could. */
  async #discard({ resource: { groupResource, type }, ref }: WriteRequest): Promise<Deleted> {
    const { namespace = '', name } = ref;
    if (!(await this.#options.store.discard({ groupResource, namespace, name }))) throw notFound(type, name);
    const { group, resource: kind } = type;
    return { status: success({ name, ...(group ? { group } : {}), kind }), finalized: true };
  }

  async #delete(request: WriteRequest, options: DeleteOptions): Promise<Deleted> {
    const { resource, ref } = request;
    for (let attempt = 0; attempt < CONFLICT_TRIES; attempt++) {
      const current = this.#options.store.get(resource.groupResource, ref.namespace, ref.name);
      if (!current) throw notFound(resource.type, ref.name);
      const deleted = await this.#attempt(request, current, options);
      if (deleted) return deleted;
    }
    throw failure(
      500,
      `${resource.groupResource} "${ref.name}" is changed by others faster than it can be deleted: try again`,
    );
  }

  /** Resolves with undefined if another write was faster. */
  #attempt(request: WriteRequest, current: StoredObject, options: DeleteOptions): Promise<Deleted | undefined> {
    const { pipeline } = this.#options;
    const old = request.resource.view(current).parse();
    const { namespace, name = '' } = old.metadata ?? {};
    const write: Deletion = {
      ...pipeline.begin(request, namespace),
      operation: 'DELETE',
      name,
      current,
      old,
      object: undefined,
      options,
    };
    return pipeline.run(write, this);
  }

  open(write: Deletion): void {
    requirePreconditions(write);
  }

  /** Marks the object if finalizers or a grace period hold it, and else removes it. */
  async commit(write: Deletion): Promise<Deleted | undefined> {
    const { resource, old, current } = write;
    const { committer } = this.#options;
    const draft = this.#marked(write);
    const held = !isDeletionComplete(resource, draft);
    if (write.strategyContext.dryRun) {
      if (!held) return answerOf(resource, old, current);
      return { stored: unsaved(draft, current.revision), finalized: false };
    }
    if (held) {
      if (draft === old) return { stored: resource.view(current), finalized: false };
      const stored = await committer.mark(resource, draft, current);
      return stored && { stored: resource.view(stored), finalized: false };
    }
    let last = current;
    if (resource.strategy.graceSeconds && draft !== old) {
      // Kinds with a grace period are marked even if it is 0, so that every watcher sees the mark before the end.
      const marked = await committer.mark(resource, draft, current);
      if (!marked) return undefined;
      last = marked;
    }
    const end = resource.strategy.graceSeconds ? draft : (old as Draft);
    const gone = await committer.remove(resource, end, last);
    return gone && answerOf(resource, gone.parse(), gone);
  }

  /** The object as a deletion marks it; `old` itself where it is marked already. */
  #marked({ resource, old, options, strategyContext }: Deletion): Draft {
    const now = this.#options.clock();
    const metadata = { ...old.metadata };
    const draft: Draft = { ...old, metadata };
    const mark = resource.strategy.markDeletion?.(draft, { ...strategyContext, now: formatTime(now) }) ?? 'usual';
    if (mark !== 'usual') return mark === 'marked' ? draft : (old as Draft);
    const finalizers = finalizersFor(resource, old, options);
    const changedFinalizers = finalizers.join() !== (metadata.finalizers ?? []).join();
    if (changedFinalizers) metadata.finalizers = finalizers;
    const wanted = Math.max(0, resource.strategy.graceSeconds?.(old, options) ?? 0);
    const grace = Math.min(wanted, Math.floor((LATEST - now) / 1000));
    const granted = metadata.deletionGracePeriodSeconds;
    if (metadata.deletionTimestamp) {
      // Grace can be shortened, never prolonged.
      const shortened = granted !== undefined && options.gracePeriodSeconds !== undefined && grace < granted;
      if (!shortened && !changedFinalizers && granted !== undefined) return old as Draft;
      if (!shortened) {
        metadata.deletionGracePeriodSeconds ??= 0;
        return draft;
      }
      metadata.deletionTimestamp = formatTime(Date.parse(metadata.deletionTimestamp) + (grace - granted) * 1000);
    } else {
      metadata.deletionTimestamp = formatTime(now + grace * 1000);
      if (metadata.generation) metadata.generation++;
    }
    metadata.deletionGracePeriodSeconds = grace;
    return draft;
  }
}

function answerOf(resource: ServedVersion, object: KubeObject, stored: StoredObject): Deleted {
  if (resource.strategy.returnsDeleted) return { stored: resource.view(stored), finalized: true };
  const { group, resource: kind } = resource.type;
  const { name, uid } = object.metadata ?? {};
  const status = success({ ...(name ? { name } : {}), ...(group ? { group } : {}), kind, ...(uid ? { uid } : {}) });
  return { status, finalized: true };
}

function ignoreNotFound(error: unknown): undefined {
  if (typeof error === 'object' && error !== null && 'reason' in error && error.reason === 'NotFound') return undefined;
  throw error;
}

/** The finalizers that the object has from now on: those of others, and that with which it waits for the garbage collector. */
function finalizersFor(resource: ServedVersion, old: KubeObject, options: DeleteOptions): string[] {
  const present = old.metadata?.finalizers ?? [];
  const others = present.filter((each) => each !== ORPHAN_FINALIZER && each !== FOREGROUND_FINALIZER);
  const waiting = WAITING_FINALIZERS[propagation(resource, present, options)];
  if (waiting === undefined) return others;
  // One that is there already keeps its place.
  return present.includes(waiting) && present.length === others.length + 1 ? [...present] : [...others, waiting];
}

function propagation(resource: ServedVersion, present: readonly string[], options: DeleteOptions): string {
  if (options.propagationPolicy) return options.propagationPolicy;
  if (options.orphanDependents !== undefined) return options.orphanDependents ? 'Orphan' : 'Background';
  if (present.includes(ORPHAN_FINALIZER)) return 'Orphan';
  if (present.includes(FOREGROUND_FINALIZER)) return 'Foreground';
  return resource.strategy.defaultPropagation ?? 'Background';
}

const EXCLUDED = ['propagationPolicy', 'orphanDependents', 'gracePeriodSeconds', 'preconditions'] as const;

/** apimachinery's `ValidateDeleteOptions`. */
function validateDeleteOptions(options: DeleteOptions): void {
  const { propagationPolicy, orphanDependents } = options;
  const faults: FieldError[] = [];
  for (const other of options[IGNORE_READ_ERROR] ? EXCLUDED : []) {
    if (options[other] === undefined) continue;
    faults.push(invalidValue(IGNORE_READ_ERROR, true, `cannot be set together with .${other}`));
  }
  if (propagationPolicy !== undefined && orphanDependents !== undefined) {
    const detail = 'orphanDependents and deletionPropagation cannot be both set';
    faults.push(invalidValue('propagationPolicy', propagationPolicy, detail));
  }
  if (propagationPolicy !== undefined && !['Foreground', 'Background', 'Orphan'].includes(propagationPolicy)) {
    faults.push(
      fieldNotSupported('propagationPolicy', propagationPolicy, ['Foreground', 'Background', 'Orphan', 'nil']),
    );
  }
  if (faults.length > 0) throw invalid({ group: 'meta.k8s.io', kind: 'DeleteOptions' }, '', faults);
}

function refuseReadErrorOption(name: string, why: string): Error {
  return invalid({ group: 'meta.k8s.io', kind: 'DeleteOptions' }, name, [invalidValue(IGNORE_READ_ERROR, true, why)]);
}

function requirePreconditions({ resource, old, options: { preconditions } }: Deletion): void {
  const { uid, resourceVersion, name = '' } = old.metadata ?? {};
  const refuse = (what: string, given: string, found: string | undefined): never => {
    if (resource.strategy.markDeletion) {
      const why = `Precondition failed: ${what} in precondition: ${given}, ${what} in object meta: ${found}`;
      throw conflict(resource.type, name, why);
    }
    // Upstream names the kind here, not the resource.
    throw conflict(
      { group: resource.type.group, resource: resource.type.kind },
      name,
      `the ${what} in the precondition (${given}) does not match the ${what} in record (${found}). The object might have been ${what === 'UID' ? 'deleted and then recreated' : 'modified'}`,
    );
  };
  if (preconditions?.uid && preconditions.uid !== uid) refuse('UID', preconditions.uid, uid);
  if (preconditions?.resourceVersion && preconditions.resourceVersion !== resourceVersion) {
    refuse('ResourceVersion', preconditions.resourceVersion, resourceVersion);
  }
}

function requireMortal({ strategy, type }: ServedVersion, name: string): void {
  const why = strategy.refuseDeletion?.(name);
  if (why !== undefined) throw forbidden(type, name, why);
}
