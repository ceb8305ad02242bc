import type { Selectors } from '@asterism/client';
import { formatGroupResource, type KubeObject, parseApiVersion, type ResourceType } from '@asterism/machinery';
import type { Predicate } from './predicate.ts';
import type { Reconcile, Request } from './reconcile.ts';

/**
 * What a controller does, and how much of it at the same time.
 *
 * @example {@link createController}
 */
export interface ControllerOptions {
  name: string;
  reconcile: Reconcile;
  /**
   * Requests worked on at the same time; never two of one object. One that has waited 5 s for a member cluster that gives no answer
   * does not count. Default 1.
   */
  concurrency?: number | undefined;
  /** How many of them may belong to one member cluster. Default: half of `concurrency`, rounded up. */
  concurrencyPerCluster?: number | undefined;
  /** After how many ms the context's signal aborts. Default 2 min. */
  timeoutMs?: number | undefined;
  /**
   * How long a request whose turn has come waits still, in ms: whatever asks for it meanwhile joins it, and costs no reconcile of its
   * own. Asked again when that time is over. Default 0.
   */
  gather?: ((request: Request) => number) | undefined;
}

/**
 * Where and what a controller watches of a kind.
 *
 * @example {@link createController}
 */
export interface SourceOptions<T extends KubeObject = KubeObject> extends Selectors {
  /** Where to watch: the manager's own cluster (default), those that come and go, or all. */
  clusters?: 'local' | 'members' | 'all' | undefined;
  namespace?: string | undefined;
  /** An event must pass all of them. */
  predicates?: readonly Predicate<T>[] | undefined;
  transform?: ((object: T) => T) | undefined;
  /**
   * What becomes of events of what the reconcile of the very same request wrote itself. `ask`, the default: they ask for it as all
   * do, so that it may go on step by step. `ignore`: they do not, where it does all that is to be done in one go; that an object is
   * gone asks nevertheless.
   */
  ownWrites?: 'ask' | 'ignore' | undefined;
}

/**
 * How urgent a request is, and when its time comes.
 *
 * @example {@link INITIAL_PRIORITY}
 */
export interface EnqueueOptions {
  priority?: number | undefined;
  afterMs?: number | undefined;
}

/**
 * Asks for a request to be reconciled.
 *
 * @example {@link INITIAL_PRIORITY}
 */
export type Enqueue = (request: Request, options?: EnqueueOptions) => void;

/**
 * Called when the controller starts to work; what it set up ends with the signal.
 *
 * @example {@link INITIAL_PRIORITY}
 */
export type Subscribe = (enqueue: Enqueue, signal: AbortSignal) => void;

/**
 * A controller, as {@link createController} describes it; opaque to all but the manager.
 *
 * @example {@link createController}
 */
export interface Controller {
  readonly name: string;
}

/**
 * A controller in the making. Hand it to `manager.add`; what is added to it after that is not seen.
 *
 * @example {@link createController}
 */
export interface ControllerBuilder extends Controller {
  /**
   * The kind that is reconciled; its events ask for itself.
   *
   * @throws TypeError for a selector of labels or fields where the reconcile is {@link withFinalizer}'s: see `selects` there.
   */
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
    const { finalizer } = this.options.reconcile;
    if (finalizer && (options?.labelSelector || options?.fieldSelector)) {
      throw new TypeError(
        `controller ${this.name}: with a selector, ${formatGroupResource(type)} that bear the finalizer ${finalizer} and are not ` +
          'selected any more would never go: say which are held by `selects` of withFinalizer instead',
      );
    }
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
 * @example
 * ```ts
 * const controller = createController({
 *   name: 'web',
 *   concurrency: 4,
 *   async reconcile({ namespace, name }: Request, { cluster, signal }: ReconcileContext): Promise<Result | void> {
 *     const web = cluster.cache.get(DEPLOYMENTS, { namespace, name });
 *     if (!web) return;
 *     const pods = cluster.cache.list(PODS, { namespace });
 *     if (pods.length === 0) return { requeueAfter: 10_000 };
 *     const map = { metadata: { namespace, name }, data: { pods: `${pods.length}` } };
 *     await cluster.client.resource(CONFIG_MAPS).apply(map, { fieldManager: 'web', signal });
 *   },
 * });
 * manager.add(controller.for(DEPLOYMENTS, { predicates: [generationChanged] }).owns(CONFIG_MAPS).watches(PODS, () => []));
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
