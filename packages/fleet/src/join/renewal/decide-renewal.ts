import { agentKeyGroup, agentOfUser, agentUser, type Cluster } from '../../api/index.ts';
import { agentRequestFault, type RequestFault } from '../registration/agent-request-fault.ts';
import type { CertificateRequestFacts } from '../registration/read-certificate-request.ts';

export type RenewalDecision = ({ verdict: 'Approve' } & RequestFault) | ({ verdict: 'Deny' } & RequestFault);

/**
 * Decides about a certificate request that an agent made with the certificate that it has.
 *
 * - (N1) The certificate must be for that agent alone, as at the first time.
 * - (N2) It must be for the key that the Cluster is bound to, and asked for with that key's rights: another key takes a new
 *   registration, about which a person decides.
 *
 * @param request a string says why it cannot be read.
 */
export function decideRenewal(
  username: string,
  request: CertificateRequestFacts | string,
  cluster: Cluster | undefined,
): RenewalDecision {
  const clusterName = agentOfUser(username) ?? '';
  if (typeof request === 'string') return deny('RequestMalformed', `the request cannot be read: ${request}`);
  const fault = agentRequestFault(clusterName, request);
  if (fault) return deny(fault.reason, fault.message);
  if (!cluster) return deny('ClusterGone', `there is no cluster "${clusterName}" any more`);
  const key = cluster.spec.publicKeyHash;
  if (key === undefined || request.publicKeyHash !== key || !request.groups.includes(agentKeyGroup(key))) {
    return deny('KeyDiffers', `cluster "${clusterName}" is bound to another key than the one that asks`);
  }
  return { verdict: 'Approve', reason: 'Renewed', message: `renews the certificate of ${agentUser(clusterName)}` };
}

const deny = (reason: string, message: string): RenewalDecision => ({ verdict: 'Deny', reason, message });
