import { wallNow } from '@asterism/client';
import type { Client } from '@asterism/client';
import {
  CERTIFICATE_SIGNING_REQUESTS,
  type CertificateSigningRequest,
  deepEqual,
  formatTime,
  ifFound,
  isConditionTrue,
  setCondition,
} from '@asterism/machinery';
import { type Controller, createController } from '@asterism/runtime';
import {
  type Cluster,
  CLUSTER_REGISTRATIONS,
  type ClusterRegistration,
  CLUSTERS,
  clusterNamespace,
  HUB_CONFIGURATION,
  HUB_CONFIGURATIONS,
  REGISTRATION_DIGEST_ANNOTATION,
} from '../../api/index.ts';
import { ensureClusterAccess } from '../access/ensure-cluster-access.ts';
import { readApprovalRules } from '../configuration/approval-rules.ts';
import { CLIENT_SIGNER } from './agent-request-fault.ts';
import { type ClusterAdditions, clusterOfRegistration, indexOfNewCluster } from './cluster-of-registration.ts';
import { decideRegistration, type RegistrationDecision } from './decide-registration.ts';
import { formatFacts, type PlacementFacts, refusedFacts } from './placement-facts.ts';
import { type CertificateRequestFacts, readCertificateRequest } from './read-certificate-request.ts';
import { registrationDigest } from './registration-digest.ts';
import { settleRequest } from './settle-request.ts';

/** The condition of a registration on which everything is done that its decision asks for. It is then never looked at again. */
const COMPLETE = 'Complete';

/**
 * Carries out what {@link decideRegistration} says: makes the Cluster and its agent's rights, then approves the certificate,
 * then says so. Each step finds what an earlier, interrupted run left. One at a time, so that of two requests for a name the
 * second sees the first's Cluster.
 */
export function createRegistrationController(options: { now?: () => number } = {}): Controller {
  const { now = wallNow } = options;
  const undecided = new Set<string>();
  return (
    createController({
      name: 'cluster-registration',
      async reconcile({ name }, { cluster: { client, cache }, signal, logger }) {
        const registration = cache.get(CLUSTER_REGISTRATIONS, { name });
        if (!registration || isConditionTrue(registration.status?.conditions, COMPLETE)) {
          undecided.delete(name);
          return;
        }
        undecided.add(name);
        const { clusterName, clusterId, certificateRequest } = registration.spec;
        const request = await ifFound(
          client.resource(CERTIFICATE_SIGNING_REQUESTS).get({ name: certificateRequest }, { signal }),
        );
        const facts = request && factsOf(request);
        const key = typeof facts === 'object' ? facts.publicKeyHash : undefined;
        const others = cache.list(CLUSTERS).filter(({ metadata }) => metadata.name !== clusterName);
        const configuration = cache.get(HUB_CONFIGURATIONS, { name: HUB_CONFIGURATION });
        const decision = decideRegistration({
          registration,
          request: facts,
          sameName: await ifFound(client.resource(CLUSTERS).get({ name: clusterName }, { signal })),
          sameId: others.find(({ spec }) => spec.id === clusterId),
          sameKey: others.find(({ spec }) => key !== undefined && spec.publicKeyHash === key),
          rules: readApprovalRules(configuration).rules,
        });
        let live: Cluster | undefined;
        if (decision.verdict === 'Approve') {
          const { key: publicKeyHash, facts: given } = decision;
          const additions = { publicKeyHash, facts: given, index: indexOfNewCluster(configuration) };
          live = await ensureCluster(client, registration, additions, signal);
          await ensureClusterAccess(client, live, signal);
        }
        if (decision.verdict !== 'Wait' && request && madeFor(request, registration)) {
          const approved = decision.verdict === 'Approve';
          const message = `${approved ? 'approved' : 'denied'} with the ClusterRegistration by ${decision.by}`;
          await settleRequest(client, request, { approved, reason: decision.reason, message }, signal);
        }
        const asker =
          typeof facts === 'object' ? { requestedBy: facts.username, publicKeyHash: facts.publicKeyHash } : {};
        const status = { ...statusOf(registration, decision, { cluster: live, now: now() }), ...asker };
        if (deepEqual(status, registration.status)) return;
        await client
          .resource(CLUSTER_REGISTRATIONS)
          .update({ ...registration, status }, { subresource: 'status', signal });
        const { verdict, reason } = decision;
        logger.info({ registration: name, member: clusterName, verdict, reason }, 'decided about a registration');
      },
    })
      .for(CLUSTER_REGISTRATIONS)
      .watches(CLUSTERS, () => []) // They are looked through; none of them changes a decision by itself.
      // The two have one name, as agents make them. One that is cleared away unanswered leaves a registration that nobody can approve.
      .watches(CERTIFICATE_SIGNING_REQUESTS, ({ metadata }) => [{ cluster: '', name: metadata?.name ?? '' }], {
        fieldSelector: `spec.signerName=${CLIENT_SIGNER}`,
      })
      .watches(HUB_CONFIGURATIONS, () => [...undecided].map((name) => ({ cluster: '', name })))
  );
}

function factsOf(request: CertificateSigningRequest): CertificateRequestFacts | string {
  try {
    return readCertificateRequest(request);
  } catch (error) {
    return (error as Error).message;
  }
}

/** Whoever names somebody else's request in a registration of his own must not get that request denied. */
function madeFor(request: CertificateSigningRequest, registration: ClusterRegistration): boolean {
  return request.metadata?.annotations?.[REGISTRATION_DIGEST_ANNOTATION] === registrationDigest(registration.spec);
}

/** A Cluster that is there is an administrator's: of a new registration it takes the key alone, where a person said so. */
async function ensureCluster(
  client: Client,
  registration: ClusterRegistration,
  additions: ClusterAdditions,
  signal: AbortSignal,
): Promise<Cluster> {
  const clusters = client.resource(CLUSTERS);
  const live = await ifFound(clusters.get({ name: registration.spec.clusterName }, { signal }));
  if (!live) return await clusters.create(clusterOfRegistration(registration, additions), { signal });
  if (live.spec.id !== registration.spec.clusterId) throw new Error('another cluster took the name meanwhile');
  const { publicKeyHash } = additions;
  if (live.spec.publicKeyHash === publicKeyHash) return live;
  return await clusters.update({ ...live, spec: { ...live.spec, publicKeyHash } }, { signal });
}

const factsOfCluster = ({ metadata, spec: { provider, region, zones } }: Cluster): PlacementFacts => {
  return { labels: metadata.labels, provider, region, zones };
};

function statusOf(
  registration: ClusterRegistration,
  decision: RegistrationDecision,
  { cluster, now }: { cluster: Cluster | undefined; now: number },
): NonNullable<ClusterRegistration['status']> {
  const before = registration.status ?? {};
  const observedGeneration = registration.metadata.generation ?? 1;
  const condition = (status: 'True' | 'False', reason: string, message: string) =>
    setCondition(before.conditions, { type: COMPLETE, status, reason, message, observedGeneration }, formatTime(now));
  switch (decision.verdict) {
    case 'Wait':
      return {
        ...before,
        message: decision.message,
        observedGeneration,
        conditions: condition('False', decision.reason, decision.message),
      };
    case 'Deny':
      return {
        ...before,
        decision: 'Denied',
        decidedBy: decision.by,
        message: decision.message,
        observedGeneration,
        conditions: condition('True', decision.reason, decision.message),
      };
    case 'Approve': {
      const { clusterName } = registration.spec;
      const refused = cluster && refusedFacts(registration.spec, factsOfCluster(cluster));
      const message = `joined as ${clusterName}${refused ? `; not given: ${formatFacts(refused)}` : ''}`;
      return {
        ...before,
        decision: 'Approved',
        decidedBy: decision.by,
        ...(refused ? { refused: refused as NonNullable<ClusterRegistration['status']>['refused'] } : {}),
        message,
        clusterName,
        namespace: clusterNamespace(clusterName),
        observedGeneration,
        conditions: condition('True', decision.reason, message),
      };
    }
  }
}
