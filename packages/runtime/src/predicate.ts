import { deepEqual, type KubeObject } from '@asterism/machinery';

/** Which events matter. What is left out is true. */
export interface Predicate<T extends KubeObject = KubeObject> {
  create?(object: T): boolean;
  update?(before: T, after: T): boolean;
  delete?(object: T): boolean;
}

/** Updates that changed what is wanted: the spec, or the wish to be deleted. Not for kinds that do not count generations. */
export const generationChanged: Predicate = {
  update: (before, after) => before.metadata?.generation !== after.metadata?.generation,
};

export const labelsChanged: Predicate = {
  update: (before, after) => !deepEqual(before.metadata?.labels ?? {}, after.metadata?.labels ?? {}),
};

export const annotationsChanged: Predicate = {
  update: (before, after) => !deepEqual(before.metadata?.annotations ?? {}, after.metadata?.annotations ?? {}),
};

/** Events that pass one of them: `anyOf(generationChanged, labelsChanged)`. */
export function anyOf<T extends KubeObject>(...predicates: readonly Predicate<T>[]): Predicate<T> {
  return {
    create: (object) => predicates.some((predicate) => predicate.create?.(object) ?? true),
    update: (before, after) => predicates.some((predicate) => predicate.update?.(before, after) ?? true),
    delete: (object) => predicates.some((predicate) => predicate.delete?.(object) ?? true),
  };
}
