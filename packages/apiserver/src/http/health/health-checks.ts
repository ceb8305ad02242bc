import type { HealthCheck } from './health.ts';

export interface WatchedParts {
  /** Rejects where the store takes no writes any more, or cannot be asked. */
  storage(): void | Promise<void>;
  /** Whether there is space to write. A process without it should not be restarted, and should get no requests. */
  space: HealthCheck;
  /** Throws while the server stops. */
  shutdown(): void;
}

/**
 * What upstream does behind its API after it listens. Here all of that is over before the server listens, so that these are
 * well for as long as it answers; they are there since probes name them in `exclude`, and monitoring in `/readyz/NAME`.
 */
const START_UP = [
  'poststarthook/start-apiserver-admission-initializer',
  'poststarthook/generic-apiserver-start-informers',
  'poststarthook/priority-and-fairness-config-consumer',
  'poststarthook/priority-and-fairness-filter',
  'poststarthook/storage-object-count-tracker-hook',
  'poststarthook/start-apiextensions-informers',
  'poststarthook/start-apiextensions-controllers',
  'poststarthook/crd-informer-synced',
  'poststarthook/start-system-namespaces-controller',
  'poststarthook/peer-endpoint-reconciler-controller',
  'poststarthook/start-cluster-authentication-info-controller',
  'poststarthook/start-kube-apiserver-identity-lease-controller',
  'poststarthook/start-kube-apiserver-identity-lease-garbage-collector',
  'poststarthook/storage-readiness',
  'poststarthook/start-legacy-token-tracking-controller',
  'poststarthook/start-service-ip-repair-controllers',
  'poststarthook/rbac/bootstrap-roles',
  'poststarthook/scheduling/bootstrap-system-priority-classes',
  'poststarthook/priority-and-fairness-config-producer',
  'poststarthook/bootstrap-controller',
  'poststarthook/start-kubernetes-service-cidr-controller',
  'poststarthook/start-kube-aggregator-informers',
  'poststarthook/apiservice-status-local-available-controller',
  'poststarthook/apiservice-status-remote-available-controller',
  'poststarthook/apiservice-registration-controller',
  'poststarthook/apiservice-wait-for-first-sync',
  'poststarthook/apiservice-discovery-controller',
  'poststarthook/kube-apiserver-autoregistration',
  'autoregister-completion',
  'poststarthook/apiservice-openapi-controller',
  'poststarthook/apiservice-openapiv3-controller',
];

/** The checks of a server with kinds of its own, by upstream's names: its store is called `etcd`. `storage` is ours. */
export function kubernetesChecks(parts: WatchedParts): { live: HealthCheck[]; ready: HealthCheck[] } {
  const fine = (name: string): HealthCheck => ({ name, check: () => {} });
  const started = START_UP.map(fine);
  const storage: HealthCheck = { name: 'etcd', check: () => parts.storage() };
  const shutdown: HealthCheck = { name: 'shutdown', check: () => parts.shutdown() };
  return {
    live: [fine('ping'), fine('log'), fine('loopback-serving-certificate'), storage, ...started],
    ready: [fine('ping'), fine('log'), { ...storage, name: 'informer-sync' }, parts.space, ...started, shutdown],
  };
}
