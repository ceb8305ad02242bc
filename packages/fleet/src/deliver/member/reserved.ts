import { CALLERS_ROLE } from '../../api/index.ts';
import type { ManifestRef } from '../works/manifest-ref.ts';

/** The roles of the accounts by which Asterism acts in a member. A template could give itself, or the account, other rights. */
const OWN_ROLES: ReadonlySet<string> = new Set([
  CALLERS_ROLE,
  'asterism:agent',
  'asterism:hub',
  'asterism:take-out',
  'asterism:workloads',
]);

/**
 * Why no template may stand in a member under this name. The account of the executor may write any rule into the ClusterRole that
 * says whom it may impersonate, and holds it: a template of that name would give it, and by its binding others, what its author
 * likes.
 */
export function whyReserved({ apiVersion, kind, name }: ManifestRef): string | undefined {
  if (!apiVersion.startsWith('rbac.authorization.k8s.io/') || !OWN_ROLES.has(name)) return undefined;
  return `${kind} "${name}" is kept by Asterism itself: choose another name`;
}
