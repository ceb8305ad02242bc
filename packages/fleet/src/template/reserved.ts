import type { KubeObject, ObjectMeta } from '@asterism/machinery';
import { clusterOfNamespace, GROUP, SYSTEM_NAMESPACE } from '../api/index.ts';

const KUBERNETES_NAMESPACES: ReadonlySet<string> = new Set(['kube-system', 'kube-public', 'kube-node-lease']);

/** Whose objects bear the group that they define at the end of their name: `works.asterism.dev`, `v1alpha1.proxy.asterism.dev`. */
const DEFINING_GROUPS: ReadonlySet<string> = new Set(['apiextensions.k8s.io', 'apiregistration.k8s.io']);

/**
 * Whether an object belongs to the hub itself or to every cluster by itself, so that no policy places it however widely it
 * selects: tokens and Works would leave the hub, and a member's own objects would be overwritten.
 */
export function isReserved({ apiVersion = '', kind, metadata = {}, ...rest }: KubeObject): boolean {
  const { namespace, name = '' } = metadata;
  if (apiVersion.startsWith(`${GROUP}/`) || apiVersion.includes(`.${GROUP}/`)) return true;
  if (DEFINING_GROUPS.has(apiVersion.slice(0, apiVersion.indexOf('/'))) && name.endsWith(`.${GROUP}`)) return true;
  if (isReservedNamespace(kind === 'Namespace' ? name : namespace)) return true;
  if (apiVersion !== 'v1') return false;
  if (kind === 'ConfigMap') return name === 'kube-root-ca.crt';
  if (kind === 'ServiceAccount') return name === 'default';
  if (kind === 'Service') return namespace === 'default' && name === 'kubernetes';
  if (kind !== 'Secret') return false;
  return rest['type'] === 'bootstrap.kubernetes.io/token' || (rest['type'] === TOKEN && isMadeForAccount(metadata));
}

const TOKEN = 'kubernetes.io/service-account-token';

/** Up to 1.23 Kubernetes makes such a Secret for every service account, in each cluster its own. One that a person made is a template. */
function isMadeForAccount({ name = '', annotations }: ObjectMeta): boolean {
  const account = annotations?.['kubernetes.io/service-account.name'];
  return account !== undefined && name.startsWith(`${account}-token-`) && name.length === account.length + 12;
}

function isReservedNamespace(namespace: string | undefined): boolean {
  if (namespace === undefined) return false;
  return (
    namespace === SYSTEM_NAMESPACE ||
    clusterOfNamespace(namespace) !== undefined ||
    KUBERNETES_NAMESPACES.has(namespace)
  );
}
