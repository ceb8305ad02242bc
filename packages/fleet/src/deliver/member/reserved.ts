import { CALLERS_ROLE } from '../../api/index.ts';
import type { ManifestRef } from '../works/manifest-ref.ts';

/**
 * Why no template may stand in a member under this name. The account of the executor may write any rule into the ClusterRole that
 * says whom it may impersonate, and holds it: a template of that name would give it, and by its binding others, what its author
 * likes.
 */
export function whyReserved({ apiVersion, kind, name }: ManifestRef): string | undefined {
  if (!apiVersion.startsWith('rbac.authorization.k8s.io/') || name !== CALLERS_ROLE) return undefined;
  return kind === 'ClusterRole' || kind === 'ClusterRoleBinding'
    ? `${kind} "${CALLERS_ROLE}" is kept by Asterism itself, as the RBAC of the hub says: choose another name`
    : undefined;
}
