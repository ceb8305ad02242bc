import { formatGroupResource, type KubeObject, type ResourceType, validateQualifiedName } from '@asterism/machinery';
import { deepFreeze } from '../deep-freeze.ts';
import type { Reconcile, ReconcileContext, Request, Result } from '../reconcile.ts';
import { addFinalizer, removeFinalizer } from './patch-finalizer.ts';

/** `'cleaned'`: nothing is left, the object may go. A result: not yet, come back then, or when something changes. */
export type CleanupOutcome = 'cleaned' | Result;

/** What to do about an object of one kind while it is there, when it is deleted, and when it is gone. */
export interface FinalizedReconcile<T extends KubeObject = KubeObject> {
  /** The kind that the controller is `for`; its informer keeps `metadata` whole. */
  type: ResourceType<T>;
  /** A name with a domain, the controller's own: `jobs.example.dev/cleanup`. */
  finalizer: string;
  /** The object bears the finalizer: whatever is made from here on is cleaned up. It is frozen. */
  reconcile(object: T, request: Request, context: ReconcileContext): Promise<Result | void>;
  /** Undoes it. It may be called any number of times, and after a crash in the middle. Throwing means: again, later. */
  cleanup(object: T, request: Request, context: ReconcileContext): Promise<CleanupOutcome>;
  /** There is no such object, or it goes and is not ours to hold any more. */
  absent?(request: Request, context: ReconcileContext): Promise<Result | void>;
}

/**
 * A reconcile that holds its object with a finalizer.
 *
 * F1 `reconcile` runs only after the server has the finalizer, so nothing is made that nobody would clean up.
 * F2 The finalizer falls only after `cleanup` has said `'cleaned'`.
 * F3 Other finalizers, and what others do to the object meanwhile, stay as they are.
 *
 * ```ts
 * createController({
 *   name: 'buckets',
 *   reconcile: withFinalizer({
 *     type: CONFIG_MAPS,
 *     finalizer: 'buckets.example.dev/delete',
 *     reconcile: async (map) => makeBucket(map),
 *     cleanup: async (map) => ((await deleteBucket(map)) ? 'cleaned' : { requeueAfter: 5_000 }),
 *   }),
 * }).for(CONFIG_MAPS);
 * ```
 *
 * @throws TypeError for a name that Kubernetes does not take as a finalizer.
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
  return async (request, context) => {
    const { cluster, signal } = context;
    const object = cluster.cache.get(type, request);
    if (!object) return options.absent?.(request, context);
    if (object.metadata?.deletionTimestamp) return finish(options, object, request, context);
    if (object.metadata?.finalizers?.includes(finalizer)) return options.reconcile(object, request, context);
    const held = await addFinalizer(cluster.client, { type, object, finalizer, signal });
    if (!held) return options.absent?.(request, context);
    deepFreeze(held);
    if (held.metadata?.deletionTimestamp) return finish(options, held, request, context);
    return options.reconcile(held, request, context);
  };
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
