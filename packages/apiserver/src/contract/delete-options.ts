export interface DeleteOptions {
  gracePeriodSeconds?: number | undefined;
  propagationPolicy?: string | undefined;
  orphanDependents?: boolean | undefined;
  preconditions?: { uid?: string | undefined; resourceVersion?: string | undefined } | undefined;
  /** Deletes an object that cannot be read, past its finalizers. Another one is refused. */
  ignoreStoreReadErrorWithClusterBreakingPotential?: boolean | undefined;
}
