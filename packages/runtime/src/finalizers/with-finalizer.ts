import { formatGroupResource, type KubeObject, type ResourceType, validateQualifiedName } from '@asterism/machinery';
import { deepFreeze } from '../cache/deep-freeze.ts';
import type { Reconcile, ReconcileContext, Request, Result } from '../controller/reconcile.ts';
import { addFinalizer, removeFinalizer } from './patch-finalizer.ts';

/**
 * `'cleaned'`: nothing is left, the object may go. A result: not yet, come back then, or when something changes.
 *
 * @example {@link withFinalizer}
 */
export type CleanupOutcome = 'cleaned' | Result;

/**
 * What to do about an object of one kind while it is there, when it is deleted, and when it is gone.
 *
 * @example {@link withFinalizer}
 */
export interface FinalizedReconcile<T extends KubeObject = KubeObject> {
  /** The kind that the controller is `for`; its informer keeps `metadata` whole. */
  type: ResourceType<T>;
  /** A name with a domain, the controller's own: `jobs.example.dev/cleanup`. */
  finalizer: string;
  /**
   * Which objects are to be held: all, unless this says less. One that is not any more, since its label was taken away for example,
   * is cleaned up as if it were deleted, and let go of; to `absent` it is as good as gone. This instead of a selector of `for`,
   * with which nobody would see it any more.
   */
  selects?(object: T): boolean;
  /** The object bears the finalizer: whatever is made from here on is cleaned up. It is frozen. */
  reconcile(object: T, request: Request, context: ReconcileContext): Promise<Result | void>;
  /** Undoes it. It may be called any number of times, and after a crash in the middle. Throwing means: again, later. */
  cleanup(object: T, request: Request, context: ReconcileContext): Promise<CleanupOutcome>;
  /** There is no such object, or it is not selected, or it goes, and is not ours to hold any more. */
  absent?(request: Request, context: ReconcileContext): Promise<Result | void>;
}

/**
 * A reconcile that holds its object with a finalizer.
 *
 * F1 `reconcile` runs only after the server has the finalizer, so nothing is made that nobody would clean up.
 * F2 The finalizer falls only after `cleanup` has said `'cleaned'`.
 * F3 Other finalizers, and what others do to the object meanwhile, stay as they are.
 *
 * @throws TypeError for a name that Kubernetes does not take as a finalizer.
 * @example
 * ```ts
 * const bucketOf = ({ metadata }: ConfigMap) => `https://buckets.example.dev/${metadata?.name}`;
 * const reconcile = withFinalizer({
 *   type: CONFIG_MAPS,
 *   finalizer: 'buckets.example.dev/delete',
 *   selects: ({ metadata }) => metadata?.labels?.['bucket'] === 'yes',
 *   reconcile: async (map) => void (await fetch(bucketOf(map), { method: 'PUT' })),
 *   cleanup: async (map) => {
 *     const { ok } = await fetch(bucketOf(map), { method: 'DELETE' });
 *     return ok ? 'cleaned' : { requeueAfter: 5_000 };
 *   },
 * });
 * manager.add(createController({ name: 'buckets', reconcile }).for(CONFIG_MAPS));
 * ```
 */
export function withFinalizer<T extends KubeObject>(options: FinalizedReconcile<T>): Reconcile {
  const { type, finalizer } = options;
  const faults = validateQualifiedName(finalizer);
  if (!finalizer.includes('/')) faults.push('must have a domain before it, as in "example.dev/cleanup"');
  if (faults.length > 0) {
    throw new TypeError(
      `the finalizer "${finalizer}" of ${formatGroupResource(type)} is no good: ${faults.join('; ')}`,
    );
  }
  const isToGo = (object: T): boolean =>
    object.metadata?.deletionTimestamp !== undefined || options.selects?.(object) === false;
  const reconcile = async (request: Request, context: ReconcileContext): Promise<Result | void> => {
    const { cluster, signal } = context;
    const object = cluster.cache.get(type, request);
    if (!object) return options.absent?.(request, context);
    if (isToGo(object)) return finish(options, object, request, context);
    if (object.metadata?.finalizers?.includes(finalizer)) return options.reconcile(object, request, context);
    const held = await addFinalizer(cluster.client, { type, object, finalizer, signal });
    if (!held) return options.absent?.(request, context);
    deepFreeze(held);
    if (isToGo(held)) return finish(options, held, request, context);
    return options.reconcile(held, request, context);
  };
  return Object.assign(reconcile, { finalizer });
}

async function finish<T extends KubeObject>(
  options: FinalizedReconcile<T>,
  object: T,
  request: Request,
  context: ReconcileContext,
): Promise<Result | void> {
  const { type, finalizer } = options;
  if (!object.metadata?.finalizers?.includes(finalizer)) return options.absent?.(request, context);
  const outcome = await options.cleanup(object, request, context);
  if (outcome !== 'cleaned') return outcome;
  await removeFinalizer(context.cluster.client, { type, object, finalizer, signal: context.signal });
}
