import {
  API_VERSION,
  type Cluster,
  type ClusterRegistration,
  CREDENTIAL_SECRET,
  type HubConfiguration,
} from '../../api/index.ts';

import type { PlacementFacts } from './placement-facts.ts';

type IndexRule = NonNullable<Cluster['spec']['index']>[number];

/**
 * What of a new cluster stands in the search store until an administrator says otherwise: what people look for. Left out are
 * Secrets (nobody reads them by accident), and Events and Leases (they change all the time and say little later).
 */
export const DEFAULT_INDEX: readonly IndexRule[] = [
  {
    group: '',
    resources: [
      'configmaps',
      'endpoints',
      'limitranges',
      'namespaces',
      'nodes',
      'persistentvolumeclaims',
      'persistentvolumes',
      'pods',
      'replicationcontrollers',
      'resourcequotas',
      'serviceaccounts',
      'services',
    ],
  },
  { group: 'apps', resources: ['daemonsets', 'deployments', 'replicasets', 'statefulsets'] },
  { group: 'autoscaling', resources: ['horizontalpodautoscalers'] },
  { group: 'batch', resources: ['cronjobs', 'jobs'] },
  { group: 'networking.k8s.io', resources: ['ingressclasses', 'ingresses', 'networkpolicies'] },
  { group: 'policy', resources: ['poddisruptionbudgets'] },
  { group: 'rbac.authorization.k8s.io', resources: ['clusterrolebindings', 'clusterroles', 'rolebindings', 'roles'] },
  { group: 'storage.k8s.io', resources: ['storageclasses'] },
];

/** What search keeps of a cluster that joins now. */
export function indexOfNewCluster(configuration: HubConfiguration | undefined): IndexRule[] {
  return [...(configuration?.spec.index ?? DEFAULT_INDEX)];
}

/** What the hub decides of a new Cluster. */
export interface ClusterAdditions {
  publicKeyHash: string;
  /** Labels, provider, region and zones. What the registration asks for does not count. */
  facts: PlacementFacts;
  index: IndexRule[];
}

/** The Cluster that an approved registration becomes. */
export function clusterOfRegistration(
  { spec }: ClusterRegistration,
  { publicKeyHash, facts, index }: ClusterAdditions,
): Cluster {
  const { clusterId, clusterName, syncMode } = spec;
  const { labels, provider, region, zones } = facts;
  return {
    apiVersion: API_VERSION,
    kind: 'Cluster',
    metadata: { name: clusterName, ...(labels ? { labels: { ...labels } } : {}) },
    spec: {
      id: clusterId,
      publicKeyHash,
      syncMode,
      ...(provider === undefined ? {} : { provider }),
      ...(region === undefined ? {} : { region }),
      ...(zones === undefined ? {} : { zones: [...zones] }),
      connection: connectionOf(spec),
      index,
    },
  };
}

/** The hub dials Push clusters. Of others it holds an address only where the registration told one, and never uses it. */
function connectionOf({ syncMode, apiEndpoint, caBundle }: ClusterRegistration['spec']): Cluster['spec']['connection'] {
  if (apiEndpoint === undefined) return { type: 'Tunnel' };
  if (syncMode !== 'Push') return { type: 'Tunnel', apiEndpoint };
  return {
    type: 'Direct',
    apiEndpoint,
    ...(caBundle === undefined ? {} : { caBundle }),
    secretRef: { name: CREDENTIAL_SECRET },
  };
}
