import type { KubeObject } from '@asterism/machinery';

/** What the labels of Pod Security admission begin with: the level that is enforced, warned about and audited in a Namespace. */
export const POD_SECURITY_PREFIX = 'pod-security.kubernetes.io/';

/** Those labels of a Namespace; undefined if it has none. */
export function podSecurityLabels(namespace: KubeObject | undefined): Record<string, string> | undefined {
  const labels = Object.entries(namespace?.metadata?.labels ?? {});
  const own = labels.filter(([key]) => key.startsWith(POD_SECURITY_PREFIX));
  return own.length > 0 ? Object.fromEntries(own.toSorted(([a], [b]) => (a < b ? -1 : 1))) : undefined;
}
