import type { Cluster } from '../../api/index.ts';

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

/**
 * Why the cluster does not accept what is in the namespace; undefined if it does. Without a list it accepts every namespace, and what
 * has no namespace it always accepts. A Namespace counts as being in itself.
 */
function whyNotAccepted({ spec }: Pick<Cluster, 'spec'>, namespace: string | undefined): string | undefined {
  const accepted = spec.placement?.acceptNamespaces;
  if (accepted === undefined || namespace === undefined) return undefined;
  if (accepted.some((pattern) => matchesNamespace(pattern, namespace))) return undefined;
  return `it does not accept namespace ${JSON.stringify(namespace)} (spec.placement.acceptNamespaces)`;
}

/** `team-*` matches by prefix, everything else by name. */
function matchesNamespace(pattern: string, namespace: string): boolean {
  return pattern.endsWith('*') ? namespace.startsWith(pattern.slice(0, -1)) : namespace === pattern;
}
