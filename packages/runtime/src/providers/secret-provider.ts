import type { Secret } from '@asterism/machinery';
import type { ClusterProvider } from '../cluster/cluster.ts';
import { followSecrets, type SecretsOptions } from './follow-secrets.ts';

/**
 * Which Secrets are clusters, and what they are called.
 *
 * @example {@link createSecretProvider}
 */
export interface SecretProviderOptions extends SecretsOptions {
  /** Default `sigs.k8s.io/multicluster-runtime-kubeconfig=true`, as multicluster-runtime has it. */
  labelSelector?: string | undefined;
  /** The entry of `data` that is the kubeconfig. Default `kubeconfig`. */
  key?: string | undefined;
  /** The context in it. Default its current one. */
  context?: string | undefined;
  /** By default the Secret's name; `NAMESPACE/NAME` where all namespaces are looked into. Undefined: it is no cluster. */
  clusterName?: ((secret: Secret) => string | undefined) | undefined;
}

const LABEL_SELECTOR = 'sigs.k8s.io/multicluster-runtime-kubeconfig=true';

/**
 * Secrets with a label, each a kubeconfig, as clusters: engaged as they come, given new credentials as they change (no store is
 * dropped), gone with the Secret or its label. A Secret that makes no sense is reported (`logger.warn`, never what it holds) and
 * changes nothing.
 *
 * The kubeconfig's credentials are in it: `exec` and paths of files are refused unless `trusted`.
 *
 * @example
 * ```ts
 * const provider = createSecretProvider({ client, namespace: 'fleet', logger });
 * const manager = createManager({ client, providers: [provider], logger });
 * ```
 */
export function createSecretProvider(options: SecretProviderOptions): ClusterProvider {
  const { namespace, labelSelector = LABEL_SELECTOR, key = 'kubeconfig', context } = options;
  const byDefault = ({ metadata }: Secret): string =>
    namespace === undefined ? `${metadata?.namespace}/${metadata?.name}` : (metadata?.name ?? '');
  return followSecrets(options, {
    name: options.name ?? 'kubeconfig Secrets',
    labelSelector,
    key,
    context,
    clusterName: options.clusterName ?? byDefault,
  });
}
