import {
  type Clock,
  ClientError,
  compareResourceVersions,
  READ_LIMIT_CODE,
  type SubtreePool,
  unlessAborted,
} from '@asterism/client';
import { formatGroupResource, isStatusError, type KubeObject, objectKey, type ResourceType } from '@asterism/machinery';
import { deepFreeze } from './deep-freeze.ts';
import { HeldSize } from './held-size.ts';
import type { HandlerRegistration, Informer, InformerHandler, InformerOptions, InformerStatus } from './informer.ts';
import type { Logger } from '../log/logger.ts';
import { projectFields } from './project-fields.ts';
import { type IndexFunction, ObjectStore, type Store } from './store.ts';
import type { WatcherEvent, WatcherProgress, WatchSource } from '../watch/watch-contract.ts';
import { followResource } from '../watch/watcher.ts';

/** Failures that remain until an administrator changes something. */
const REFUSALS: ReadonlySet<unknown> = new Set([401, 403, 404, READ_LIMIT_CODE]);

export interface SharedInformerOptions<T extends KubeObject> extends InformerOptions<T> {
  type: ResourceType<T>;
  source: () => WatchSource<T>;
  clock: Clock;
  random: () => number;
  logger: Logger;
  subtrees: SubtreePool;
  /** Called when it lists all objects: for the first time (`initial`), of a `restored` server, or since it got this code. */
  onList?: ((resource: string, reason: string) => void) | undefined;
  onAnswer?: (() => void) | undefined;
  /** Called when the last hold is given up. */
  onUnused: () => void;
}

class Registration<T extends KubeObject> implements HandlerRegistration {
  readonly handler: InformerHandler<T>;
  readonly #all: Set<Registration<T>>;
  hasSynced: boolean;

  constructor(handler: InformerHandler<T>, all: Set<Registration<T>>, hasSynced: boolean) {
    this.handler = handler;
    this.#all = all;
    this.hasSynced = hasSynced;
    all.add(this);
  }

  get removed(): boolean {
    return !this.#all.has(this);
  }

  remove(): void {
    this.#all.delete(this);
  }
}

/**
 * One watch and its store, held by any number of users.
 *
 * I1 The store changes first, then handlers are told, one event after the other.
 * I2 A new list replaces the store at once; handlers see only what differs, deletions that were missed among it.
 * I3 A handler that throws is reported and harms nobody else.
 * I4 Objects beyond the limits of a list are not held (`HeldSize`). The watch then fails: `status` says so, and a new list follows.
 */
export class SharedInformer<T extends KubeObject> {
  readonly type: ResourceType<T>;
  readonly options: SharedInformerOptions<T>;
  readonly store = new ObjectStore<T>();
  readonly status: InformerStatus = {
    state: 'listing',
    code: undefined,
    message: undefined,
    failures: 0,
    lastContact: undefined,
    lastEvent: undefined,
    watchingSince: undefined,
    resourceVersion: undefined,
  };
  readonly #project: ((object: T) => T) | undefined;
  readonly #registrations = new Set<Registration<T>>();
  readonly #abort = new AbortController();
  readonly #synced = Promise.withResolvers<void>();
  #waitingForVersion: Set<() => void> | undefined;
  #hasSynced = false;
  /** Of a list that has begun, what came. */
  #arriving: { objects: Map<string, T>; sizes: Map<string, number> } | undefined;
  readonly #size: HeldSize;
  #running: Promise<void> | undefined;
  #holds = 0;

  constructor(options: SharedInformerOptions<T>) {
    this.type = options.type;
    this.options = options;
    this.#size = new HeldSize(formatGroupResource(options.type));
    this.#project = options.fields && projectFields<T>(options.fields);
    this.#synced.promise.catch(() => {}); // whoever waits has a promise of their own
  }

  get hasSynced(): boolean {
    return this.#hasSynced;
  }

  start(): void {
    this.#running ??= this.#run();
  }

  /** Ends the watch and empties the store. */
  async stop(): Promise<void> {
    this.#abort.abort();
    this.#synced.reject(stopped(this.type));
    this.status.state = 'stopped';
    for (const check of this.#waitingForVersion ?? []) check();
    await this.#running;
    this.#registrations.clear();
    this.store.replace(new Map());
    this.#size.replace(new Map());
  }

  hold(): Informer<T> {
    this.#holds++;
    return new Hold(this, () => {
      if (--this.#holds === 0) this.options.onUnused();
    });
  }

  synced(signal?: AbortSignal): Promise<void> {
    return unlessAborted(this.#synced.promise, signal);
  }

  /** Resolves when everything up to `resourceVersion` has been seen, or that cannot be told. */
  async reached(resourceVersion: string, signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const check = (): void => {
      const order = compareResourceVersions(this.status.resourceVersion ?? '0', resourceVersion);
      if (order === undefined || order >= 0 || signal.aborted || this.status.state === 'stopped') resolve();
    };
    signal.addEventListener('abort', check, { once: true });
    this.#waitingForVersion ??= new Set();
    this.#waitingForVersion.add(check);
    check();
    await promise;
    this.#waitingForVersion.delete(check);
    signal.removeEventListener('abort', check);
  }

  addHandler(handler: InformerHandler<T>): HandlerRegistration {
    const registration = new Registration(handler, this.#registrations, this.#hasSynced);
    if (this.#hasSynced)
      for (const object of this.store.list()) this.#tell(registration, (to) => to.onAdd?.(object, true));
    return registration;
  }

  #run(): Promise<void> {
    const { source, namespace, labelSelector, fieldSelector, metadataOnly, subtrees, clock, random } = this.options;
    const options = {
      namespace,
      labelSelector,
      fieldSelector,
      metadataOnly,
      subtrees,
      initialList: 'stream',
      clock,
      random,
      signal: this.#abort.signal,
      onProgress: (progress: WatcherProgress) => this.#note(progress),
    } as const;
    return followResource<T>(source, options, (event, bytes) => this.#take(event, bytes));
  }

  #take(event: WatcherEvent<T>, bytes = 0): void | Promise<void> {
    if (event.type === 'Apply' || event.type === 'Delete') this.#change(event, bytes);
    else if (event.type === 'InitApply') this.#arrive(event.object, bytes);
    else if (event.type === 'Init') this.#arriving = undefined;
    else {
      const { objects = new Map<string, T>(), sizes = new Map<string, number>() } = this.#arriving ?? {};
      this.#arriving = undefined;
      this.#size.replace(sizes, this.options.source().client.listLimits);
      return this.#replace(objects, event.resourceVersion);
    }
  }

  /** An object that has not changed stays the one that is held: the new copy is garbage at once. */
  #arrive(object: T, bytes: number): void {
    const key = objectKey(object);
    const held = this.store.get(key);
    const unchanged = held && versionOf(held) !== undefined && versionOf(held) === versionOf(object);
    this.#arriving ??= { objects: new Map(), sizes: new Map() };
    this.#arriving.objects.set(key, unchanged ? held : this.#prepare(object));
    this.#arriving.sizes.set(key, bytes);
  }

  async #replace(objects: Map<string, T>, resourceVersion: string): Promise<void> {
    const before = this.store.replace(objects);
    const first = !this.#hasSynced;
    this.#hasSynced = true;
    this.#see(resourceVersion);
    // Handlers that come from here on are told of the new store by addHandler.
    const registrations = [...this.#registrations];
    const toAll = (tell: (to: InformerHandler<T>) => void): void => {
      for (const registration of registrations) if (!registration.removed) this.#tell(registration, tell);
    };
    for (const [key, object] of objects) {
      const held = before.get(key);
      if (!held) toAll((to) => to.onAdd?.(object, first));
      else if (held !== object) toAll((to) => to.onUpdate?.(held, object, true));
      const turn = this.options.subtrees.turns.next();
      if (!turn) continue;
      await turn;
      if (this.#abort.signal.aborted) return;
    }
    for (const [key, object] of before) if (!objects.has(key)) toAll((to) => to.onDelete?.(object, true));
    for (const registration of registrations) registration.hasSynced = true;
    this.#synced.resolve();
  }

  #change(event: Extract<WatcherEvent<T>, { type: 'Apply' | 'Delete' }>, bytes: number): void {
    const key = objectKey(event.object);
    if (event.type === 'Delete') this.#size.delete(key);
    else this.#size.set(key, bytes);
    const object = this.#prepare(event.object);
    if (event.type === 'Delete') {
      if (this.store.delete(key)) this.#tellAll((to) => to.onDelete?.(object, false));
    } else {
      const before = this.store.set(object);
      this.#tellAll((to) => (before ? to.onUpdate?.(before, object, false) : to.onAdd?.(object, false)));
    }
  }

  #prepare(object: T): T {
    // As the pool gives it; another source than the client may not have read it with one.
    const whole = Object.isFrozen(object) ? object : deepFreeze(object);
    const kept = this.#project ? this.#project(whole) : whole;
    const { transform, logger } = this.options;
    if (!transform) return kept;
    try {
      return deepFreeze(transform(kept));
    } catch (error) {
      logger.error({ err: error, object: objectKey(object) }, 'a transform failed; the object is kept as it came');
      return kept;
    }
  }

  #tellAll(tell: (to: InformerHandler<T>) => void): void {
    for (const registration of this.#registrations) this.#tell(registration, tell);
  }

  #tell({ handler }: Registration<T>, tell: (to: InformerHandler<T>) => void): void {
    try {
      tell(handler);
    } catch (error) {
      this.options.logger.error({ err: error, resource: formatGroupResource(this.type) }, 'an informer handler failed');
    }
  }

  #note(progress: WatcherProgress): void {
    const { status } = this;
    if (status.state === 'stopped') return;
    // A refusal is an answer too.
    const isAnswer = progress.state === 'waiting' ? isStatusError(progress.error) : progress.state === 'watching';
    const heardNothing = status.lastContact === undefined || typeof status.code === 'string';
    if (isAnswer && heardNothing) this.options.onAnswer?.();
    status.state = progress.state;
    if (progress.state !== 'watching') status.watchingSince = undefined;
    if (progress.state === 'listing') {
      const reason = status.code ?? (this.#hasSynced ? 'restored' : 'initial');
      this.options.onList?.(formatGroupResource(this.type), String(reason));
    } else if (progress.state === 'waiting') {
      const { error, delayMs } = progress;
      status.failures++;
      status.code = isStatusError(error) ? error.code : error instanceof ClientError ? error.code : 'ERR_UNKNOWN';
      status.message = error instanceof Error ? error.message : String(error);
      if (isStatusError(error)) status.lastContact = this.options.clock.monotonic();
      const fields = { resource: formatGroupResource(this.type), code: status.code, delayMs: Math.round(delayMs) };
      // No waiting helps there: somebody took the kind, or the right to it, away.
      const refused = this.#hasSynced && status.failures === 1 && REFUSALS.has(status.code);
      if (refused) this.options.logger.warn(fields, `what changes is not seen any more: ${status.message}`);
      else this.options.logger.debug(fields, `watch interrupted: ${status.message}`);
    } else if (progress.state === 'watching') {
      status.failures = 0;
      status.code = undefined;
      status.message = undefined;
      status.watchingSince ??= this.options.clock.monotonic();
      this.#see(progress.resourceVersion);
    }
  }

  #see(resourceVersion: string | undefined): void {
    this.status.lastContact = this.options.clock.monotonic();
    this.status.lastEvent = this.status.lastContact;
    if (!resourceVersion) return;
    this.status.resourceVersion = resourceVersion;
    for (const check of this.#waitingForVersion ?? []) check();
  }
}

/** One user's part of a shared informer. */
class Hold<T extends KubeObject> implements Informer<T> {
  readonly #shared: SharedInformer<T>;
  readonly #onRelease: () => void;
  readonly #handlers = new Set<HandlerRegistration>();
  #released = false;

  constructor(shared: SharedInformer<T>, onRelease: () => void) {
    this.#shared = shared;
    this.#onRelease = onRelease;
  }

  get store(): Store<T> {
    return this.#shared.store;
  }

  get hasSynced(): boolean {
    return this.#shared.hasSynced;
  }

  get status(): InformerStatus {
    return this.#shared.status;
  }

  synced(signal?: AbortSignal): Promise<void> {
    return this.#shared.synced(signal);
  }

  addHandler(handler: InformerHandler<T>): HandlerRegistration {
    if (this.#released) throw stopped(this.#shared.type);
    const registration = this.#shared.addHandler(handler);
    this.#handlers.add(registration);
    return registration;
  }

  addIndex(name: string, index: IndexFunction<T>): void {
    this.#shared.store.addIndex(name, index);
  }

  release(): void {
    if (this.#released) return;
    this.#released = true;
    for (const registration of this.#handlers) registration.remove();
    this.#onRelease();
  }
}

function versionOf(object: KubeObject): string | undefined {
  return object.metadata?.resourceVersion;
}

function stopped(type: ResourceType): Error {
  return new Error(`the informer of ${formatGroupResource(type)} was stopped`);
}
