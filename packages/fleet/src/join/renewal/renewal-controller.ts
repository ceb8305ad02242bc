import { CERTIFICATE_SIGNING_REQUESTS, type CertificateSigningRequest, isNotFound } from '@asterism/machinery';
import { type Controller, createController } from '@asterism/runtime';
import { agentOfUser, CLUSTERS } from '../../api/index.ts';
import { CLIENT_SIGNER } from '../registration/agent-request-fault.ts';
import { readCertificateRequest } from '../registration/read-certificate-request.ts';
import { settleRequest } from '../registration/settle-request.ts';
import { decideRenewal } from './decide-renewal.ts';

/** Carries out what {@link decideRenewal} says about the requests of agents that have joined. Those of others it leaves alone. */
export function createRenewalController(): Controller {
  return createController({
    name: 'certificate-renewal',
    concurrency: 4,
    async reconcile({ name }, { cluster: { client, cache }, signal, logger }) {
      const request = cache.get(CERTIFICATE_SIGNING_REQUESTS, { name });
      const { username = '' } = request?.spec ?? {};
      const clusterName = agentOfUser(username);
      if (!request || clusterName === undefined || isSettled(request)) return;
      // Not of the cache: the key may have been replaced a moment ago.
      const cluster = await client
        .resource(CLUSTERS)
        .get({ name: clusterName }, { signal })
        .catch((error: unknown) => {
          if (isNotFound(error)) return undefined;
          throw error;
        });
      const decision = decideRenewal(username, factsOf(request), cluster);
      const { verdict, reason, message } = decision;
      await settleRequest(client, request, { approved: verdict === 'Approve', reason, message }, signal);
      const fields = { request: name, member: clusterName, reason };
      if (verdict === 'Approve') logger.debug(fields, 'approved a new certificate for an agent');
      else logger.warn({ ...fields, message }, 'denied an agent a certificate');
    },
  }).for(CERTIFICATE_SIGNING_REQUESTS, { fieldSelector: `spec.signerName=${CLIENT_SIGNER}` });
}

function isSettled({ status }: CertificateSigningRequest): boolean {
  return status?.certificate !== undefined || (status?.conditions ?? []).length > 0;
}

function factsOf(request: CertificateSigningRequest): ReturnType<typeof readCertificateRequest> | string {
  try {
    return readCertificateRequest(request);
  } catch (error) {
    return (error as Error).message;
  }
}
