export { type Clock, systemClock } from '@asterism/client';
export * from './backoff.ts';
export type { Cache, CacheStatus } from './cache.ts';
export type { Cluster, ClusterHealth, ClusterProvider, Engagement } from './cluster.ts';
export {
  type Controller,
  type ControllerBuilder,
  type ControllerOptions,
  createController,
  type Enqueue,
  type EnqueueOptions,
  type SourceOptions,
  type Subscribe,
} from './controller.ts';
export * from './informer.ts';
export { keepHeapCompact, type ProcessMemory } from './keep-heap-compact.ts';
export { Knocker, type KnockerOptions } from './knocker.ts';
export {
  type LeaderElectionOptions,
  type LeaderElectionTiming,
  LeadershipLostError,
  NotLeadingError,
} from './leader-election.ts';
export * from './logger.ts';
export * from './manager.ts';
export * from './predicate.ts';
export * from './reconcile.ts';
export type { IndexFunction, Store } from './store.ts';
export * from './watcher.ts';
export * from './work-queue.ts';
