import type { Cluster } from '../../api/index.ts';
import { whyNotAccepted } from './accepted-namespaces.ts';

/** What limits the clusters that a template may be in, whether it is there already or not. */
export interface PlacingLimits {
  /** Of the template; of a Namespace its own name. */
  namespace?: string | undefined;
  /** By cluster, the right that is missing there. */
  refusals?: ReadonlyMap<string, string> | undefined;
}

export interface PermitRejection {
  reason: 'NotPermitted' | 'NamespaceNotAccepted';
  message: string;
}

/** Why the template must not be in the cluster; undefined if it may. */
export function whyNotPermitted(cluster: Cluster, limits: PlacingLimits | undefined): PermitRejection | undefined {
  const refusal = limits?.refusals?.get(cluster.metadata.name ?? '');
  if (refusal !== undefined) return { reason: 'NotPermitted', message: refusal };
  const message = whyNotAccepted(cluster, limits?.namespace);
  return message === undefined ? undefined : { reason: 'NamespaceNotAccepted', message };
}
