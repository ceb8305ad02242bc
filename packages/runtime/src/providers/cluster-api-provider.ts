import type { Secret } from '@asterism/machinery';
import type { ClusterProvider } from '../cluster/cluster.ts';
import { followSecrets, type SecretsOptions } from './follow-secrets.ts';

/**
 * Which Secrets of Cluster API are clusters, and what they are called.
 *
 * @example {@link createClusterApiProvider}
 */
export interface ClusterApiProviderOptions extends SecretsOptions {
  /** Narrows the clusters down. Default `cluster.x-k8s.io/cluster-name`: all that Cluster API has made. */
  labelSelector?: string | undefined;
  /** By default the Cluster's name; `NAMESPACE/NAME` where all namespaces are looked into. */
  clusterName?: ((cluster: { namespace: string; name: string }) => string) | undefined;
}

/** On every Secret that belongs to a Cluster: its kubeconfig, but also its authorities' keys and others. */
const CLUSTER_NAME_LABEL = 'cluster.x-k8s.io/cluster-name';

/**
 * The clusters of Cluster API, by the Secret `CLUSTER-kubeconfig` that its control plane providers write (key `value`, label
 * `cluster.x-k8s.io/cluster-name`) and renew. Other Secrets of a Cluster are passed over, and what they hold is not kept. A
 * cluster is engaged when its kubeconfig is there and leaves with it.
 *
 * `exec` and paths of files in the kubeconfigs are refused unless `trusted`.
 *
 * @example
 * ```ts
 * const provider = createClusterApiProvider({ client, logger });
 * const manager = createManager({ client, providers: [provider], logger });
 * ```
 */
export function createClusterApiProvider(options: ClusterApiProviderOptions): ClusterProvider {
  const byDefault = ({ namespace, name }: { namespace: string; name: string }): string =>
    options.namespace === undefined ? `${namespace}/${name}` : name;
  const nameOf = options.clusterName ?? byDefault;
  return followSecrets(options, {
    name: options.name ?? 'Cluster API',
    labelSelector: options.labelSelector ?? CLUSTER_NAME_LABEL,
    key: 'value',
    clusterName({ metadata }: Secret) {
      const name = metadata?.labels?.[CLUSTER_NAME_LABEL];
      return name && metadata?.name === `${name}-kubeconfig`
        ? nameOf({ namespace: metadata.namespace ?? '', name })
        : undefined;
    },
  });
}
