import { deepEqual } from '@asterism/machinery';
import { agentSubject } from '../../api/index.ts';
import type { CertificateRequestFacts } from './read-certificate-request.ts';

/** The signer whose certificates an API server takes for its callers. */
export const CLIENT_SIGNER = 'kubernetes.io/kube-apiserver-client';

/** What a client certificate may be asked for; a P-256 key needs no more than the first. */
const USAGES: readonly string[] = ['client auth', 'digital signature', 'key encipherment'];

export interface RequestFault {
  reason: string;
  message: string;
}

/**
 * Why no certificate is given for this request, whoever asks: it must be a client certificate for that cluster's agent and for
 * the key that signed the request, and name nobody and nothing else. Undefined where it is.
 */
export function agentRequestFault(clusterName: string, request: CertificateRequestFacts): RequestFault | undefined {
  const { commonName, organizations, extras, signerName, usages, publicKeyHash } = request;
  const subject = agentSubject(clusterName, publicKeyHash);
  if (signerName !== CLIENT_SIGNER) {
    return { reason: 'WrongSigner', message: `the signer must be ${CLIENT_SIGNER}, not ${signerName}` };
  }
  if (commonName !== subject.commonName) {
    return wrongSubject(`the common name must be "${subject.commonName}", not "${commonName}"`);
  }
  if (!deepEqual([...organizations].sort(), [...subject.organizations].sort())) {
    return wrongSubject(
      `the organizations must be "${subject.organizations.join('" and "')}" alone, not "${organizations.join('", "')}"`,
    );
  }
  if (extras.length > 0) return wrongSubject(`the request asks for more than a name: ${extras.join(', ')}`);
  if (!usages.includes('client auth') || !usages.every((usage) => USAGES.includes(usage))) {
    return { reason: 'WrongUsages', message: `the usages must be "client auth", not "${usages.join('", "')}"` };
  }
  return undefined;
}

const wrongSubject = (message: string): RequestFault => ({ reason: 'WrongSubject', message });
