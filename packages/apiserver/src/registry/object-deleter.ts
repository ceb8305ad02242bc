import {
  conflict,
  failure,
  type FieldError,
  forbidden,
  formatTime,
  invalid,
  type KubeObject,
  notFound,
  success,
} from '@asterism/machinery';
import type { StoredObject } from '../storage/stored-object.ts';
import { IGNORE_READ_ERROR } from '../storage/storage-read-error.ts';
import { type ObjectReader, requireReadable } from './object-reader.ts';
import { isDeletionComplete } from './is-deletion-complete.ts';
import type { Deleted, DeleteOptions, ObjectRef, Selection, StoredList, WriteContext } from './registry.ts';
import type { ServedVersion } from './served-version.ts';
import type { Draft } from './strategy.ts';
import { invalidValue, notSupported } from './strategy.ts';
import { unsaved } from './unsaved.ts';
import type { WritePipeline } from './write-pipeline.ts';

/** Finalizers with which the garbage collector is told what to do with dependents first. */
export const ORPHAN_FINALIZER = 'orphan';
export const FOREGROUND_FINALIZER = 'foregroundDeletion';
const WAITING_FINALIZERS: Readonly<Record<string, string>> = {
  Orphan: ORPHAN_FINALIZER,
  Foreground: FOREGROUND_FINALIZER,
};

/** What every cluster has for ever. */
const IMMORTAL: Readonly<Record<string, { names: readonly string[]; why: string }>> = {
  namespaces: { names: ['default', 'kube-system', 'kube-public'], why: 'this namespace may not be deleted' },
  'priorityclasses.scheduling.k8s.io': {
    names: ['system-node-critical', 'system-cluster-critical'],
    why: 'this is a system priority class and cannot be deleted',
  },
};
const CONFLICT_TRIES = 100;
/** A grace period ends before the year 10000, which RFC 3339 cannot say. */
const LATEST = Date.UTC(9999, 11, 31, 23, 59, 59);

/** `delete` and `deletecollection`: at once where nothing holds the object, else a mark that its holders see. */
export class ObjectDeleter {
  readonly #pipeline: WritePipeline;
  readonly #reader: ObjectReader;

  constructor(pipeline: WritePipeline, reader: ObjectReader) {
    this.#pipeline = pipeline;
    this.#reader = reader;
  }

  async delete(
    resource: ServedVersion,
    ref: ObjectRef,
    options: DeleteOptions,
    context: WriteContext,
  ): Promise<Deleted> {
    validateDeleteOptions(options);
    for (const text of resource.strategy.deletionWarnings?.(options) ?? []) context.warn?.(text);
    const { groupResource } = resource;
    const isDamaged = this.#pipeline.store.isDamaged(groupResource, ref.namespace ?? '', ref.name);
    if (isDamaged && options[IGNORE_READ_ERROR]) return await this.#discard(resource, ref);
    requireMortal(resource, ref.name);
    requireReadable(this.#pipeline.store, resource, ref);
    return await this.#delete(resource, ref, options, context);
  }

  /** An object that cannot be read has no finalizers that could be looked at, and no content that admission could. */
  async #discard(resource: ServedVersion, { namespace = '', name }: ObjectRef): Promise<Deleted> {
    const { groupResource, type } = resource;
    const { store } = this.#pipeline;
    if (!(await store.discard({ groupResource, namespace, name }))) throw notFound(type, name);
    const { group, resource: kind } = type;
    return { status: success({ name, ...(group ? { group } : {}), kind }), finalized: true };
  }

  async #delete(
    resource: ServedVersion,
    ref: ObjectRef,
    options: DeleteOptions,
    context: WriteContext,
  ): Promise<Deleted> {
    for (let attempt = 0; attempt < CONFLICT_TRIES; attempt++) {
      const current = this.#pipeline.store.get(resource.groupResource, ref.namespace, ref.name);
      if (!current) throw notFound(resource.type, ref.name);
      const deleted = await this.#attempt(resource, current, options, context);
      if (deleted) return deleted;
    }
    throw failure(
      500,
      `${resource.groupResource} "${ref.name}" is changed by others faster than it can be deleted: try again`,
    );
  }

  async deleteCollection(
    resource: ServedVersion,
    selection: Selection,
    options: DeleteOptions,
    context: WriteContext,
  ): Promise<StoredList> {
    validateDeleteOptions(options);
    if (options[IGNORE_READ_ERROR]) {
      throw refuseReadErrorOption('', 'is not allowed with DELETECOLLECTION, try again after removing the option');
    }
    for (const text of resource.strategy.deletionWarnings?.(options) ?? []) context.warn?.(text);
    const list = await this.#reader.list(resource, selection);
    for (const item of list.items as readonly StoredObject[]) {
      const { namespace, name = '' } = item.parse().metadata ?? {};
      const current = this.#pipeline.store.get(resource.groupResource, namespace, name);
      if (!current) continue;
      await this.#delete(resource, { namespace, name }, options, context).catch(ignoreNotFound);
    }
    return list;
  }

  /** Resolves with undefined where somebody changed the object meanwhile. */
  async #attempt(
    resource: ServedVersion,
    current: StoredObject,
    options: DeleteOptions,
    context: WriteContext,
  ): Promise<Deleted | undefined> {
    const old = resource.view(current).parse();
    const { namespace, name = '' } = old.metadata ?? {};
    requirePreconditions(resource, old, options);
    const subject = { object: undefined, old, name, namespace };
    await this.#pipeline.admission.mutate('DELETE', resource, subject, context);
    await this.#pipeline.admission.check('DELETE', resource, subject, context);
    await this.#pipeline.admission.admitValid('DELETE', resource, subject, context);
    const draft = this.#marked(resource, old, options, context);
    const held = !isDeletionComplete(resource, draft);
    if (context.dryRun) {
      if (!held) return this.#answer(resource, old, current);
      return { stored: unsaved(draft, current.revision), finalized: false };
    }
    if (held) {
      if (draft === old) return { stored: resource.view(current), finalized: false };
      const stored = await this.#mark(resource, draft, current);
      return stored && { stored: resource.view(stored), finalized: false };
    }
    let last = current;
    if (resource.strategy.graceSeconds && draft !== old) {
      // Kinds with a grace period are marked even if it is 0, so that every watcher sees the mark before the end.
      const marked = await this.#mark(resource, draft, current);
      if (!marked) return undefined;
      last = marked;
    }
    const end = resource.strategy.graceSeconds ? draft : (old as Draft);
    const gone = await this.#pipeline.committer.remove(resource, end, last);
    return gone && this.#answer(resource, gone.parse(), gone);
  }

  /** The object as a deletion marks it; `old` itself where it is marked already. */
  #marked(resource: ServedVersion, old: KubeObject, options: DeleteOptions, context: WriteContext): Draft {
    const now = this.#pipeline.clock();
    const metadata = { ...old.metadata };
    const draft: Draft = { ...old, metadata };
    const strategyContext = this.#pipeline.strategyContext(context, metadata.namespace);
    const mark = resource.strategy.markDeletion?.(draft, strategyContext) ?? 'usual';
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

  #mark(resource: ServedVersion, object: KubeObject, current: StoredObject): Promise<StoredObject | undefined> {
    return this.#pipeline.store.write({
      type: 'put',
      groupResource: resource.groupResource,
      namespace: object.metadata?.namespace ?? '',
      name: object.metadata?.name ?? '',
      expected: current.revision,
      object: resource.conversion ? resource.conversion.toStorage(object) : object,
    });
  }

  #answer(resource: ServedVersion, object: KubeObject, stored: StoredObject): Deleted {
    if (resource.strategy.returnsDeleted) return { stored: resource.view(stored), finalized: true };
    const { group, resource: kind } = resource.type;
    const { name, uid } = object.metadata ?? {};
    const status = success({ ...(name ? { name } : {}), ...(group ? { group } : {}), kind, ...(uid ? { uid } : {}) });
    return { status, finalized: true };
  }
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
  const errors: FieldError[] = [];
  for (const other of options[IGNORE_READ_ERROR] ? EXCLUDED : []) {
    if (options[other] === undefined) continue;
    errors.push(invalidValue(IGNORE_READ_ERROR, true, `cannot be set together with .${other}`));
  }
  if (propagationPolicy !== undefined && orphanDependents !== undefined) {
    const detail = 'orphanDependents and deletionPropagation cannot be both set';
    errors.push(invalidValue('propagationPolicy', propagationPolicy, detail));
  }
  if (propagationPolicy !== undefined && !['Foreground', 'Background', 'Orphan'].includes(propagationPolicy)) {
    errors.push(notSupported('propagationPolicy', propagationPolicy, ['Foreground', 'Background', 'Orphan', 'nil']));
  }
  if (errors.length > 0) throw invalid({ group: 'meta.k8s.io', kind: 'DeleteOptions' }, '', errors);
}

function refuseReadErrorOption(name: string, why: string): Error {
  return invalid({ group: 'meta.k8s.io', kind: 'DeleteOptions' }, name, [invalidValue(IGNORE_READ_ERROR, true, why)]);
}

function requirePreconditions(resource: ServedVersion, old: KubeObject, { preconditions }: DeleteOptions): void {
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

function requireMortal({ groupResource, type }: ServedVersion, name: string): void {
  const immortal = IMMORTAL[groupResource];
  if (immortal?.names.includes(name)) throw forbidden(type, name, immortal.why);
}
