import { createPrivateKey, randomBytes, X509Certificate } from 'node:crypto';
import { type Client, type Clock, sleep, systemClock } from '@asterism/client';
import {
  CERTIFICATE_SIGNING_REQUESTS,
  type CertificateSigningRequest,
  isAlreadyExists,
  type KubeObject,
  type ResourceType,
  ifFound,
} from '@asterism/machinery';
import {
  API_VERSION,
  agentSubject,
  type Cluster,
  CLUSTER_REGISTRATIONS,
  type ClusterRegistration,
  REGISTRATION_DIGEST_ANNOTATION,
} from '../../api/index.ts';
import { privateKeyPin } from '../connect/public-key-pin.ts';
import { JoinError } from '../join-error.ts';
import { CLIENT_SIGNER } from './agent-request-fault.ts';
import { createCertificateRequest } from './create-certificate-request.ts';
import { registrationDigest } from './registration-digest.ts';

/** What a cluster says of itself when it joins. Later its Cluster in the hub is edited there. */
export interface RegistrationFacts {
  provider?: string | undefined;
  region?: string | undefined;
  zones?: string[] | undefined;
  labels?: Record<string, string> | undefined;
}

export interface RegistrationClaim extends RegistrationFacts {
  clusterId: string;
  clusterName: string;
  syncMode: Cluster['spec']['syncMode'];
  apiEndpoint?: string | undefined;
  caBundle?: string | undefined;
  agentVersion?: string | undefined;
}

/** What an agent asks for, at most: it may be away for a month at any time, and finds its certificate good when it is back. */
const CERTIFICATE_SECONDS = 90 * 24 * 60 * 60;

/** A name for the pair of objects of one request. Nobody can guess it, so nobody can take it first. */
export function newRequestName(clusterName: string): string {
  return `${clusterName}-${randomBytes(8).toString('hex')}`;
}

/** The two objects of a request to join; `name` is theirs both. */
export function registrationObjects(
  claim: RegistrationClaim,
  key: string,
  name: string,
): { request: CertificateSigningRequest; registration: ClusterRegistration } {
  const defined = Object.entries(claim).filter(([, value]) => value !== undefined);
  const spec = { ...Object.fromEntries(defined), certificateRequest: name } as ClusterRegistration['spec'];
  return {
    registration: { apiVersion: API_VERSION, kind: 'ClusterRegistration', metadata: { name }, spec },
    request: agentCertificateRequest(claim.clusterName, key, {
      name,
      annotations: { [REGISTRATION_DIGEST_ANNOTATION]: registrationDigest(spec) },
    }),
  };
}

/** A request for the certificate of that cluster's agent. */
export function agentCertificateRequest(
  clusterName: string,
  key: string,
  metadata: { name: string; annotations?: Record<string, string> },
): CertificateSigningRequest {
  const csr = createCertificateRequest(key, agentSubject(clusterName, privateKeyPin(key)));
  return {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata,
    spec: {
      signerName: CLIENT_SIGNER,
      request: Buffer.from(csr).toString('base64'),
      usages: ['client auth', 'digital signature'],
      expirationSeconds: CERTIFICATE_SECONDS,
    },
  };
}

/**
 * Makes both objects; what is there already stays as it is, so an agent that was restarted goes on with its request.
 *
 * @returns false where that request says something else than this one: it is of no use any more.
 */
export async function submitRegistration(
  hub: Client,
  { request, registration }: ReturnType<typeof registrationObjects>,
  signal?: AbortSignal,
): Promise<boolean> {
  await createOnce(hub, CERTIFICATE_SIGNING_REQUESTS, request, signal);
  const standing = await createOnce(hub, CLUSTER_REGISTRATIONS, registration, signal);
  return registrationDigest(standing.spec) === registrationDigest(registration.spec);
}

async function createOnce<T extends KubeObject>(
  hub: Client,
  type: ResourceType<T>,
  object: T,
  signal: AbortSignal | undefined,
): Promise<T> {
  const resource = hub.resource(type);
  try {
    return await resource.create(object, { signal, fieldValidation: 'Strict' });
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
    return await resource.get({ name: object.metadata?.name ?? '' }, { signal });
  }
}

export interface AwaitCertificateOptions {
  signal: AbortSignal;
  clock?: Clock | undefined;
  /** The first wait between two looks, ms; it grows to twenty times as much. */
  intervalMs?: number | undefined;
  /** Told once for each new state of the request. */
  onWaiting?: ((message: string) => void) | undefined;
}

/**
 * Waits for the decision and the certificate.
 *
 * @returns the certificate, PEM; undefined where the request is gone (the hub keeps it for hours only), so that it has to be
 *   made again.
 * @throws JoinError `Denied`.
 */
export async function awaitCertificate(
  hub: Client,
  name: string,
  key: string,
  { signal, clock = systemClock, intervalMs = 250, onWaiting }: AwaitCertificateOptions,
): Promise<string | undefined> {
  let said: string | undefined;
  for (let wait = intervalMs; ; wait = Math.min(wait * 1.5, intervalMs * 20)) {
    const registration = await ifFound(hub.resource(CLUSTER_REGISTRATIONS).get({ name }, { signal }));
    const request = await ifFound(hub.resource(CERTIFICATE_SIGNING_REQUESTS).get({ name }, { signal }));
    if (!registration || !request) return undefined;
    refuseIfDenied(registration);
    const { decision, message = 'the hub has not looked at it yet' } = registration.status ?? {};
    const issued = request.status?.certificate;
    if (issued) return certificateFor(key, Buffer.from(issued, 'base64').toString(), name);
    if (decision === undefined && message !== said) onWaiting?.(message);
    said = message;
    await sleep(clock, wait, signal);
  }
}

/**
 * An agent that was denied and is started again, by whatever starts it again and again, looks here first and asks for nothing.
 *
 * @throws JoinError `Denied`, where the registration of that name is.
 */
export async function checkNotDenied(hub: Client, name: string, signal?: AbortSignal): Promise<void> {
  const registration = await ifFound(hub.resource(CLUSTER_REGISTRATIONS).get({ name }, { signal }));
  if (registration) refuseIfDenied(registration);
}

function refuseIfDenied({ metadata, spec, status }: ClusterRegistration): void {
  if (status?.decision !== 'Denied') return;
  throw new JoinError(
    'Denied',
    `the hub denied that this cluster joins as "${spec.clusterName}" (registration ${metadata.name}, by ` +
      `${status.decidedBy ?? 'a person'}): ${status.message ?? 'no reason was given'}`,
  );
}

/** A request of that name by somebody else would bring a certificate that is of no use here. */
export function certificateFor(key: string, pem: string, name: string): string {
  if (new X509Certificate(pem).checkPrivateKey(createPrivateKey(key))) return pem;
  throw new JoinError(
    'RequestRefused',
    `the certificate of ${name} is for another key: somebody else made that request`,
  );
}
