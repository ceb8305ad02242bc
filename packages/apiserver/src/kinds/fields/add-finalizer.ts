import type { Draft } from '../../contract/strategy.ts';

/** Adds a finalizer that the server itself gives to new objects, last, where it is not there yet. */
export function addFinalizer({ metadata }: Draft, finalizer: string): void {
  const finalizers = metadata.finalizers ?? [];
  if (!finalizers.includes(finalizer)) metadata.finalizers = [...finalizers, finalizer];
}
