import { deepEqual, type KubeObject } from '@asterism/machinery';

/**
 * Which events matter. What is left out is true.
 *
 * @example {@link anyOf}
 */
export interface Predicate<T extends KubeObject = KubeObject> {
  create?(object: T): boolean;
  update?(before: T, after: T): boolean;
  delete?(object: T): boolean;
}

/**
 * Updates that changed what is wanted: the spec, or the wish to be deleted. Not for kinds that do not count generations.
 *
 * @example
 * ```ts
 * createController({ name: 'web', reconcile }).for(DEPLOYMENTS, { predicates: [generationChanged] });
 * ```
 */
export const generationChanged: Predicate = {
  update: (before, after) => before.metadata?.generation !== after.metadata?.generation,
};

/**
 * Updates that changed labels.
 *
 * @example
 * ```ts
 * createController({ name: 'web', reconcile }).for(DEPLOYMENTS, { predicates: [labelsChanged] });
 * ```
 */
export const labelsChanged: Predicate = {
  update: (before, after) => !deepEqual(before.metadata?.labels ?? {}, after.metadata?.labels ?? {}),
};

/**
 * Updates that changed annotations.
 *
 * @example
 * ```ts
 * createController({ name: 'web', reconcile }).for(DEPLOYMENTS, { predicates: [annotationsChanged] });
 * ```
 */
export const annotationsChanged: Predicate = {
  update: (before, after) => !deepEqual(before.metadata?.annotations ?? {}, after.metadata?.annotations ?? {}),
};

/**
 * Events that pass one of the predicates.
 *
 * @example
 * ```ts
 * const scaled: Predicate<Deployment> = { update: (before, after) => before.spec?.replicas !== after.spec?.replicas };
 * createController({ name: 'web', reconcile }).for(DEPLOYMENTS, { predicates: [anyOf(scaled, labelsChanged)] });
 * ```
 */
export function anyOf<T extends KubeObject>(...predicates: readonly Predicate<T>[]): Predicate<T> {
  return {
    create: (object) => predicates.some((predicate) => predicate.create?.(object) ?? true),
    update: (before, after) => predicates.some((predicate) => predicate.update?.(before, after) ?? true),
    delete: (object) => predicates.some((predicate) => predicate.delete?.(object) ?? true),
  };
}
