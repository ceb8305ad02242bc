import {
  AUTO_APPROVE_GROUP,
  type Cluster,
  CLUSTER_TOKEN_GROUP_PREFIX,
  type ClusterRegistration,
  isReservedLabel,
} from '../../api/index.ts';
import { type ApprovalRule, matchingRule } from '../configuration/approval-rules.ts';
import { agentRequestFault } from './agent-request-fault.ts';
import type { CertificateRequestFacts } from './read-certificate-request.ts';
import {
  formatFacts,
  mergeFacts,
  type PlacementFacts,
  refusedFacts,
  ruleFacts,
  tokenFacts,
} from './placement-facts.ts';
import { registrationDigest } from './registration-digest.ts';

export interface RegistrationInput {
  registration: ClusterRegistration;
  /** Undefined: there is no such CertificateSigningRequest. A string: why it cannot be read. */
  request: CertificateRequestFacts | string | undefined;
  /** The Cluster of the name that is asked for. */
  sameName: Cluster | undefined;
  /** A Cluster of another name with the id that is claimed. */
  sameId: Cluster | undefined;
  /** A Cluster of another name that is bound to the key that asks. */
  sameKey: Cluster | undefined;
  /** Of the HubConfiguration, as far as they are sound. */
  rules: readonly ApprovalRule[];
}

export type RegistrationDecision =
  /** `key`: what the Cluster is bound to from now on. `facts`: labels, provider, region and zones of a new one. */
  | { verdict: 'Approve'; by: string; reason: string; key: string; facts: PlacementFacts }
  /** Nothing is handed out until a person decides. */
  | { verdict: 'Wait'; reason: string; message: string }
  | { verdict: 'Deny'; by: string; reason: string; message: string };

/**
 * Decides about an agent's request to join.
 *
 * - (R1) The certificate must be for this cluster's agent and its key alone, and of this registration.
 * - (R2) A token that was made for one cluster joins no other.
 * - (R3) A name that another cluster bears, and an id or a key that is joined under another name, are refused, whoever approves.
 * - (R4) A person's decision counts, for what R1 to R3 let through.
 * - (R5) Who claims a known id proves it with the key of the first registration; else a person decides, whatever the token
 *   promises. With the key it is let in again without one.
 * - (R6) A token may promise approval: the API server's word (`spec.groups`) for it, not the agent's. So may a rule.
 * - (R7) Labels, provider, region and zones decide which objects a cluster receives. The token, the rule or the person gives them. The
 *   agent only asks.
 */
export function decideRegistration(input: RegistrationInput): RegistrationDecision {
  const { registration, request, sameName } = input;
  const { decision, decidedBy } = registration.status ?? {};
  if (decision === 'Denied') {
    return deny(decidedBy ?? 'a person', 'Denied', registration.status?.message ?? 'an administrator denied it');
  }
  if (request === undefined) {
    return wait('RequestMissing', `there is no CertificateSigningRequest "${registration.spec.certificateRequest}"`);
  }
  if (typeof request === 'string')
    return refuse('RequestMalformed', `the certificate request cannot be read: ${request}`);
  const fault = requestFault(registration, request) ?? registrationFault(registration, request) ?? clashFault(input);
  if (fault) return fault;
  const key = request.publicKeyHash;
  const facts = tokenFacts(request.groups);
  if (decision === 'Approved') {
    const by = decidedBy ?? 'a person';
    return {
      verdict: 'Approve',
      by,
      reason: 'ApprovedByPerson',
      key,
      facts: mergeFacts(facts, registration.status?.accepted ?? {}),
    };
  }
  const known = sameName?.spec.publicKeyHash;
  if (sameName && known !== key) {
    return wait(
      'KeyDiffers',
      `cluster "${sameName.metadata.name}" joined with another key: whoever asks now holds its id, but not its key. ` +
        'An administrator has to approve this registration if the agent lost its Secret, or to deny it',
    );
  }
  if (request.groups.includes(AUTO_APPROVE_GROUP)) {
    return { verdict: 'Approve', by: request.username, reason: 'ApprovedByToken', key, facts };
  }
  if (known === key) return { verdict: 'Approve', by: 'key of the first registration', reason: 'SameKey', key, facts };
  const rule = matchingRule(input.rules, registration.spec, request.groups);
  if (rule) {
    const given = mergeFacts(facts, ruleFacts(rule, registration.spec));
    return { verdict: 'Approve', by: `rule ${rule.name}`, reason: 'ApprovedByRule', key, facts: given };
  }
  const { clusterName } = registration.spec;
  const asked = formatFacts(refusedFacts(registration.spec, facts) ?? {});
  const asks = asked === '' ? '' : ` (it asks for ${asked})`;
  return wait('AwaitingApproval', `an administrator has to let it in: aster approve ${clusterName}${asks}`);
}

function requestFault(
  { spec }: ClusterRegistration,
  request: CertificateRequestFacts,
): RegistrationDecision | undefined {
  const fault = agentRequestFault(spec.clusterName, request);
  if (fault) return refuse(fault.reason, fault.message);
  if (request.digest === registrationDigest(spec)) return undefined;
  return refuse('WrongRequest', 'the certificate request was made for another registration than this');
}

function registrationFault(
  { spec }: ClusterRegistration,
  { groups }: CertificateRequestFacts,
): RegistrationDecision | undefined {
  const only = groups
    .filter((group) => group.startsWith(CLUSTER_TOKEN_GROUP_PREFIX))
    .map((group) => group.slice(CLUSTER_TOKEN_GROUP_PREFIX.length));
  if (only.length > 0 && !only.includes(spec.clusterName)) {
    return refuse('WrongToken', `the token is for cluster "${only.join('", "')}", not for "${spec.clusterName}"`);
  }
  const reserved = Object.keys(spec.labels ?? {}).filter(isReservedLabel);
  if (reserved.length > 0) return refuse('ReservedLabel', `an agent may not set the label ${reserved.join(', ')}`);
  if (spec.syncMode === 'Push' && spec.apiEndpoint === undefined) {
    return refuse('EndpointMissing', 'the hub is to write to a Push cluster: spec.apiEndpoint must say where it is');
  }
  return undefined;
}

function clashFault({
  registration: { spec },
  sameName,
  sameId,
  sameKey,
}: RegistrationInput): RegistrationDecision | undefined {
  if (sameName && sameName.spec.id !== spec.clusterId) {
    return refuse(
      'NameTaken',
      `another cluster (id ${sameName.spec.id}) is joined as "${spec.clusterName}": choose another name or, if that one is no ` +
        `more, take it out first (aster leave ${spec.clusterName})`,
    );
  }
  if (sameId) {
    return refuse(
      'AlreadyJoined',
      `this cluster is joined as "${sameId.metadata.name}": use that name, or delete that Cluster first`,
    );
  }
  if (sameKey) {
    return refuse(
      'KeyTaken',
      `cluster "${sameKey.metadata.name}" has this key already, and its rights are the key's: was this cluster copied with its ` +
        'Secret asterism-system/agent-credential? Delete that here, so that the agent makes a key of its own',
    );
  }
  return undefined;
}

const deny = (by: string, reason: string, message: string): RegistrationDecision => ({
  verdict: 'Deny',
  by,
  reason,
  message,
});
const refuse = (reason: string, message: string) => deny('the rules of the hub', reason, message);
const wait = (reason: string, message: string): RegistrationDecision => ({ verdict: 'Wait', reason, message });
