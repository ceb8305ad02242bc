export { type Clock, systemClock } from '@asterism/client';
export type { ApplyConfiguration, ApplyMetadata, ApplyStatusConfiguration } from './apply/apply-configuration.ts';
export { type Apply, type ApplyCallOptions, type ApplierOptions, createApply } from './apply/create-apply.ts';
export { type ExtractOptions, extractApplied } from './apply/extract-applied.ts';
export { type BackoffOptions, type Backoff, backoff } from './waiting/backoff.ts';
export type { Cache, CacheStatus } from './cache/cache.ts';
export type { Cluster, ClusterProvider, Engagement } from './cluster/cluster.ts';
export type { ClusterHealth } from './instruments/cluster-health.ts';
export { type ConnectedCluster, type ConnectOptions, connectToCluster } from './providers/connect-to-cluster.ts';
export {
  type Controller,
  type ControllerBuilder,
  type ControllerOptions,
  createController,
  type Enqueue,
  type EnqueueOptions,
  type SourceOptions,
  type Subscribe,
} from './controller/controller.ts';
export {
  createEventRecorder,
  type EventRecorder,
  type EventRecorderOptions,
  type RecordedEvent,
} from './events/event-recorder.ts';
export { addFinalizer, type FinalizerTarget, removeFinalizer } from './finalizers/patch-finalizer.ts';
export { type CleanupOutcome, type FinalizedReconcile, withFinalizer } from './finalizers/with-finalizer.ts';
export type { ProbeCheck } from './health/answer-probe.ts';
export { createStatusServer, type StatusServer, type StatusServerOptions } from './health/status-server.ts';
export type {
  InformerOptions,
  InformerHandler,
  HandlerRegistration,
  InformerStatus,
  Informer,
} from './cache/informer.ts';
export { createJsonLogger, type JsonLoggerOptions, type LogLevel } from './log/json-logger.ts';
export { type BufferCollection, collectBuffers } from './memory/buffer-collection.ts';
export { COMPACT_HEAP_ENVIRONMENT, keepHeapCompact, type ProcessMemory } from './memory/keep-heap-compact.ts';
export { Knocker, type KnockerOptions } from './watch/knocker.ts';
export {
  type LeaderElectionOptions,
  type LeaderElectionTiming,
  LeadershipLostError,
  NotLeadingError,
} from './leader/leader-election.ts';
export { type Logger, silentLogger } from './log/logger.ts';
export { createManager } from './lifecycle/manager.ts';
export type { ManagerOptions, Runnable, ManagedServer, Manager } from './lifecycle/manager-contract.ts';
export type {
  ReconcileOutcome,
  QueueInstruments,
  ControllerInstruments,
  QueueLoad,
  MeasuredController,
  MeasuredCluster,
  WebhookInstruments,
  Instruments,
} from './instruments/instruments.ts';
export { type ActOptions, actInClusters, type ClusterOutcome, throwFailure } from './owners/act-in-clusters.ts';
export {
  type ClusterOwner,
  clusterOwnerOf,
  type Markable,
  markOwned,
  OWNER_ANNOTATION,
  OWNER_DOMAIN_LABEL,
  OWNER_UID_LABEL,
  ownedSelector,
  ownerRequests,
  readClusterId,
} from './owners/cluster-owner.ts';
export { OwnedObjects, type OwnedObjectsOptions, type PlacedObject } from './owners/owned-objects.ts';
export { type Predicate, generationChanged, labelsChanged, annotationsChanged, anyOf } from './controller/predicate.ts';
export { type ClusterApiProviderOptions, createClusterApiProvider } from './providers/cluster-api-provider.ts';
export type { SecretsOptions } from './providers/follow-secrets.ts';
export {
  createKubeconfigContextProvider,
  type KubeconfigContextProviderOptions,
} from './providers/kubeconfig-context-provider.ts';
export {
  createKubeconfigFileProvider,
  type KubeconfigFileProviderOptions,
} from './providers/kubeconfig-file-provider.ts';
export type { ProviderOptions } from './providers/provider-options.ts';
export { createSecretProvider, type SecretProviderOptions } from './providers/secret-provider.ts';
export {
  LOCAL_CLUSTER,
  type Request,
  type Result,
  type ReconcileContext,
  type Reconcile,
  TerminalError,
  requestKey,
} from './controller/reconcile.ts';
export type { ShardingOptions, ShardingTiming } from './sharding/sharding-options.ts';
export type { IndexFunction, Store } from './cache/store.ts';
export type {
  WatcherEvent,
  OnWatcherEvent,
  WatcherProgress,
  WatchableResource,
  WatchSource,
  WatchResourceOptions,
} from './watch/watch-contract.ts';
export { followResource, watchResource } from './watch/watcher.ts';
export type {
  AdmissionFacts,
  AdmissionOperation,
  AdmissionRequest,
  ConnectRequest,
  CreateRequest,
  DeleteRequest,
  UpdateRequest,
} from './webhooks/admission-request.ts';
export {
  type ConversionWays,
  type ConversionWebhookOptions,
  type ConvertedKind,
  createConversionWebhook,
  createConvertedKind,
} from './webhooks/conversion-webhook.ts';
export { type Denial, deny } from './webhooks/denial.ts';
export {
  createMutatingWebhook,
  type MutatingWebhookOptions,
  type MutationRequest,
} from './webhooks/mutating-webhook.ts';
export type { ServingFiles } from './webhooks/serving-files.ts';
export { createValidatingWebhook, type ValidatingWebhookOptions } from './webhooks/validating-webhook.ts';
export { HandlerError, type ReviewContext, type Webhook } from './webhooks/webhook.ts';
export { createWebhookServer, type WebhookServer, type WebhookServerOptions } from './webhooks/webhook-server.ts';
export { type WorkQueueOptions, type AddOptions, INITIAL_PRIORITY, WorkQueue } from './controller/work-queue.ts';
