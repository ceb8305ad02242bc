/*
 * What the examples of doc comments may speak of without saying where it comes from. They are type-checked with it
 * (generate-docs-runtime.js); what they use of the packages themselves is imported for them.
 */
import type { Client } from '@asterism/client';
import type { Deployment, KubeObject, ResourceType } from '@asterism/machinery';
import type {
  Apply,
  Cluster,
  ClusterProvider,
  EventRecorder,
  Informer,
  Logger,
  Manager,
  ReconcileContext,
  Request,
  Result,
  ValidatingWebhookOptions,
} from '@asterism/runtime';
import type { Metrics } from '@asterism/runtime/metrics';

export declare const client: Client;
export declare const member: Cluster;
export declare const cluster: Cluster;
export declare const clusters: readonly Cluster[];
export declare const providers: ClusterProvider[];
export declare const manager: Manager;
export declare const logger: Logger;
export declare const metrics: Metrics;
export declare const signal: AbortSignal;
export declare const context: ReconcileContext;
export declare const request: Request;
export declare const apply: Apply;
export declare const events: EventRecorder;

/** A kind of one's own. */
export interface Test extends KubeObject {
  spec?: { image?: string };
  status?: { ready?: number };
}
export declare const TESTS: ResourceType<Test>;
export declare const test: Test;
export declare const deployment: Deployment;
export declare const informer: Informer<Deployment>;

export declare function reconcile(request: Request, context: ReconcileContext): Promise<Result | void>;
export declare const validate: ValidatingWebhookOptions<Deployment>['validate'];
