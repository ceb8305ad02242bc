import type { Selectors } from '@asterism/client';
import { type KubeObject, parseApiVersion, type ResourceType } from '@asterism/machinery';
import type { Predicate } from './predicate.ts';
import type { Reconcile, Request } from './reconcile.ts';

export interface ControllerOptions {
  name: string;
  reconcile: Reconcile;
  /** Requests worked on at the same time; never two of one object. Default 1. */
  concurrency?: number | undefined;
  /** How many of them may belong to one member cluster. Default: half of `concurrency`, rounded up. */
  concurrencyPerCluster?: number | undefined;
  /** After how many ms the context's signal aborts. Default 2 min. */
  timeoutMs?: number | undefined;
}

export interface SourceOptions<T extends KubeObject = KubeObject> extends Selectors {
  /** Where to watch: the manager's own cluster (default), those that come and go, or all. */
  clusters?: 'local' | 'members' | 'all' | undefined;
  namespace?: string | undefined;
  /** An event must pass all of them. */
  predicates?: readonly Predicate<T>[] | undefined;
  transform?: ((object: T) => T) | undefined;
}

export interface EnqueueOptions {
  priority?: number | undefined;
  afterMs?: number | undefined;
}

export type Enqueue = (request: Request, options?: EnqueueOptions) => void;

/** Called when the controller starts to work; what it set up ends with the signal. */
export type Subscribe = (enqueue: Enqueue, signal: AbortSignal) => void;

/** A controller, as {@link createController} describes it; opaque to all but the manager. */
export interface Controller {
  readonly name: string;
}

/** A controller in the making. Hand it to `manager.add`; what is added to it after that is not seen. */
export interface ControllerBuilder extends Controller {
  /** The kind that is reconciled; its events ask for itself. */
  for<T extends KubeObject>(type: ResourceType<T>, options?: SourceOptions<T>): this;
  /** A kind whose objects have one of the `for` kind as controlling owner, in the same cluster. After `for`. */
  owns<T extends KubeObject>(type: ResourceType<T>, options?: SourceOptions<T>): this;
  /** Any other kind. `map` sees the object before and after a change. */
  watches<T extends KubeObject>(
    type: ResourceType<T>,
    map: (object: T, clusterName: string) => readonly Request[],
    options?: SourceOptions<T>,
  ): this;
  /** Events from elsewhere. */
  source(subscribe: Subscribe): this;
}

/** One kind that a controller watches. */
export interface KindSource {
  type: ResourceType;
  map: (object: KubeObject, clusterName: string) => readonly Request[];
  options: SourceOptions;
}

/** Everything that was said of a controller. */
export class ControllerDescription implements ControllerBuilder {
  readonly name: string;
  readonly options: ControllerOptions;
  readonly kinds: KindSource[] = [];
  readonly subscriptions: Subscribe[] = [];
  #owner: ResourceType | undefined;

  constructor(options: ControllerOptions) {
    this.name = options.name;
    this.options = options;
  }

  for<T extends KubeObject>(type: ResourceType<T>, options?: SourceOptions<T>): this {
    if (this.#owner) throw new Error(`controller ${this.name}: for() was called already; use watches()`);
    this.#owner = type;
    return this.watches(type, (object, cluster) => [requestOf(object, cluster)], options);
  }

  owns<T extends KubeObject>(type: ResourceType<T>, options?: SourceOptions<T>): this {
    const owner = this.#owner;
    if (!owner) throw new Error(`controller ${this.name}: owns() needs to know the owner: call for() before it`);
    return this.watches(type, (object, cluster) => ownerRequests(object, owner, cluster), options);
  }

  watches<T extends KubeObject>(
    type: ResourceType<T>,
    map: (object: T, clusterName: string) => readonly Request[],
    options: SourceOptions<T> = {},
  ): this {
    this.kinds.push({ type, map, options } as unknown as KindSource);
    return this;
  }

  source(subscribe: Subscribe): this {
    this.subscriptions.push(subscribe);
    return this;
  }
}

/**
 * Describes a controller: what it watches, and what it does about it.
 *
 * ```ts
 * manager.add(createController({ name: 'web', reconcile }).for(DEPLOYMENTS, { predicates: [generationChanged] }).owns(PODS));
 * ```
 */
export function createController(options: ControllerOptions): ControllerBuilder {
  return new ControllerDescription(options);
}

function requestOf({ metadata }: KubeObject, cluster: string): Request {
  return { cluster, namespace: metadata?.namespace, name: metadata?.name ?? '' };
}

/** The owner may have been written in another version of its group. */
function ownerRequests({ metadata }: KubeObject, owner: ResourceType, cluster: string): Request[] {
  return (metadata?.ownerReferences ?? [])
    .filter(({ controller, kind, apiVersion }) => {
      return controller === true && kind === owner.kind && parseApiVersion(apiVersion).group === owner.group;
    })
    .map(({ name }) => ({ cluster, namespace: owner.namespaced ? metadata?.namespace : undefined, name }));
}
