import { SYSTEM_MASTERS } from '../contract/user-info.ts';
import type { SigningRequestContent } from './signing-request.ts';

/** Client certificates that an API server accepts, of people and programs. */
export const CLIENT_SIGNER = 'kubernetes.io/kube-apiserver-client';
/** Client certificates of kubelets. */
export const KUBELET_CLIENT_SIGNER = 'kubernetes.io/kube-apiserver-client-kubelet';
/** What kubelets serve with. */
export const KUBELET_SERVING_SIGNER = 'kubernetes.io/kubelet-serving';

export const BUILT_IN_SIGNERS: readonly string[] = [CLIENT_SIGNER, KUBELET_CLIENT_SIGNER, KUBELET_SERVING_SIGNER];

const CLIENT_USAGES = ['client auth', 'digital signature', 'key encipherment'];
const SERVING_USAGES = ['digital signature', 'key encipherment', 'server auth'];

/**
 * Why a signer signs no such request; undefined where it does. A signer that is not built in is one of client certificates.
 * https://kubernetes.io/docs/reference/access-authn-authz/certificate-signing-requests/#kubernetes-signers
 */
export function refusalOfSigner(
  signerName: string,
  content: SigningRequestContent,
  { usages, privilegedGroups = [] }: { usages: readonly string[]; privilegedGroups?: readonly string[] | undefined },
): string | undefined {
  if (signerName === KUBELET_CLIENT_SIGNER) return refuseKubeletClient(content, usages);
  if (signerName === KUBELET_SERVING_SIGNER) return refuseKubeletServing(content, usages);
  return refuseClient(content, usages) ?? refusePrivileged(content, [SYSTEM_MASTERS, ...privilegedGroups]);
}

function refuseClient({ commonName }: SigningRequestContent, usages: readonly string[]): string | undefined {
  const wrong = usages.find((usage) => !CLIENT_USAGES.includes(usage));
  if (wrong !== undefined) return `invalid usage for client certificate: ${wrong}`;
  if (!usages.includes('client auth')) return 'missing required usage for client certificate: client auth';
  if (commonName === '') return 'the subject has no common name';
  return undefined;
}

function refusePrivileged({ organizations }: SigningRequestContent, groups: readonly string[]): string | undefined {
  const group = groups.find((each) => organizations.includes(each));
  return group === undefined ? undefined : `the group ${group} cannot be had by a signing request`;
}

/** Also asked before such a request is approved without a person. */
export function refuseKubeletClient(content: SigningRequestContent, usages: readonly string[]): string | undefined {
  if (!isOfNodes(content)) return 'subject organization is not system:nodes';
  if (content.dnsNames.length > 0) return 'DNS subjectAltNames are not allowed';
  if (content.emailAddresses.length > 0) return 'Email subjectAltNames are not allowed';
  if (content.ipAddresses.length > 0) return 'IP subjectAltNames are not allowed';
  if (content.uris.length > 0) return 'URI subjectAltNames are not allowed';
  return refuseUsages(usages, CLIENT_USAGES) ?? refuseCommonName(content);
}

function refuseKubeletServing(content: SigningRequestContent, usages: readonly string[]): string | undefined {
  if (!isOfNodes(content)) return 'subject organization is not system:nodes';
  if (content.dnsNames.length === 0 && content.ipAddresses.length === 0) return 'DNS or IP subjectAltName is required';
  if (content.emailAddresses.length > 0) return 'Email subjectAltNames are not allowed';
  if (content.uris.length > 0) return 'URI subjectAltNames are not allowed';
  return refuseUsages(usages, SERVING_USAGES) ?? refuseCommonName(content);
}

function isOfNodes({ organizations }: SigningRequestContent): boolean {
  return organizations.length === 1 && organizations[0] === 'system:nodes';
}

/** Exactly these; keys that are not of RSA need no key encipherment. */
function refuseUsages(usages: readonly string[], wanted: readonly string[]): string | undefined {
  const given = new Set(usages);
  const missing = wanted.filter((usage) => !given.has(usage) && usage !== 'key encipherment');
  const isExact = missing.length === 0 && usages.every((usage) => wanted.includes(usage));
  return isExact ? undefined : `usages did not match [${wanted.join(' ')}]`;
}

function refuseCommonName({ commonName }: SigningRequestContent): string | undefined {
  return commonName.startsWith('system:node:') ? undefined : 'subject common name does not begin with system:node:';
}
