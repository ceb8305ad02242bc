import type { Cluster } from '../../api/index.ts';

/**
 * Why the cluster does not accept what is in the namespace; undefined if it does. Without a list it accepts every namespace, and what
 * has no namespace it always accepts. A Namespace counts as being in itself.
 */
export function whyNotAccepted({ spec }: Pick<Cluster, 'spec'>, namespace: string | undefined): string | undefined {
  const accepted = spec.placement?.acceptNamespaces;
  if (accepted === undefined || namespace === undefined) return undefined;
  if (accepted.some((pattern) => matchesNamespace(pattern, namespace))) return undefined;
  return `it does not accept namespace ${JSON.stringify(namespace)} (spec.placement.acceptNamespaces)`;
}

/** `team-*` matches by prefix, everything else by name. */
function matchesNamespace(pattern: string, namespace: string): boolean {
  return pattern.endsWith('*') ? namespace.startsWith(pattern.slice(0, -1)) : namespace === pattern;
}
