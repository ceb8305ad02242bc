import { createHash } from 'node:crypto';
import {
  type Client,
  type Clock,
  type Connection,
  createClient,
  createTransport,
  type Credential,
  type HttpTransport,
  Refusals,
  sleep,
} from '@asterism/client';
import { CLUSTERS } from '@asterism/fleet/api';
import {
  type AgentCredential,
  awaitCertificate,
  certifiedCluster,
  checkNotDenied,
  createAgentKey,
  explainHubFailure,
  explainMemberFailure,
  type HubAddress,
  isUsable,
  JoinError,
  loadAgentCredential,
  newRequestName,
  privateKeyPin,
  type RegistrationClaim,
  registrationObjects,
  resolveHubAuthority,
  saveAgentCredential,
  submitRegistration,
} from '@asterism/fleet/join';
import { isNotFound, NAMESPACES } from '@asterism/machinery';
import type { Logger } from '@asterism/runtime';
import type { CertifiedHub } from './keep-certificate.ts';

export interface JoinHubOptions {
  hub: HubAddress;
  /** What to tell the hub; `clusterId` is read from the member. */
  claim: Omit<RegistrationClaim, 'clusterId'>;
  member: Client;
  userAgent: string;
  logger: Logger;
  clock: Clock;
  signal: AbortSignal;
}

/**
 * The hub, as this cluster's agent: with the certificate that is kept in the member, or with one that is asked for by the
 * bootstrap token and then kept there. Begun again after any failure it goes on where it was. The token's connection is
 * closed before this resolves. Rejects with `JoinError`, or with what the hub answered where waiting may help.
 */
export async function joinHub(options: JoinHubOptions): Promise<CertifiedHub> {
  const { hub, member, logger, clock, signal } = options;
  const kept = await ofMember(loadAgentCredential(member, signal));
  const authority = await ofHub(resolveHubAuthority(hub, kept?.authority, signal), hub, 'token');
  if (isUsable(kept, authority, clock.wall().getTime())) {
    const known = certifiedHub(options, { ...kept, authority }, { issuedNow: false });
    const joinedAs = certifiedCluster(kept) ?? options.claim.clusterName;
    try {
      await readCluster(known.client, joinedAs, options);
      if (joinedAs !== options.claim.clusterName) throw joinedAsAnother(joinedAs, options);
      return known;
    } catch (error) {
      await known.transport.close();
      if (!(error instanceof JoinError) || error.code !== 'CredentialRefused' || hub.token === undefined) throw error;
      logger.warn({ reason: error.message }, 'the kept certificate is of no use: registering again');
    }
  }
  if (hub.token === undefined) {
    throw new JoinError(
      'TokenMissing',
      `this cluster has no certificate of the hub ${hub.server} that can be used, and no bootstrap token to get one with: ` +
        'ask an administrator of the hub for one',
    );
  }
  const credential = await register(options, kept, authority, hub.token);
  const joined = certifiedHub(options, credential, { issuedNow: true });
  await settled(joined.client, options);
  return joined;
}

/** Asks for a certificate until there is one. Every step is kept in the member before the next is taken. */
async function register(
  options: JoinHubOptions,
  kept: AgentCredential | undefined,
  authority: string,
  token: string,
): Promise<AgentCredential & { certificate: string; authority: string }> {
  const { hub, claim, member, logger, clock, signal } = options;
  const { metadata } = await ofMember(member.resource(NAMESPACES).get({ name: 'kube-system' }, { signal }));
  const clusterId = metadata?.uid ?? '';
  const { client } = hubClient(options, authority, { kind: 'token', token });
  const tokenId = publicPartOf(token);
  const key = kept?.key ?? createAgentKey();
  const goesOn = kept?.certificate === undefined && kept?.tokenId === tokenId;
  try {
    for (let request = goesOn ? kept.request : undefined; ; request = undefined) {
      if (request !== undefined) await ofHub(checkNotDenied(client, request, signal), hub, 'token');
      const name = request ?? newRequestName(claim.clusterName);
      const credential: AgentCredential = { key, authority, request: name, tokenId };
      await ofMember(saveAgentCredential(member, credential, signal));
      const objects = registrationObjects({ ...claim, clusterId }, key, name);
      if (!(await ofHub(submitRegistration(client, objects, signal), hub, 'token'))) continue;
      const onWaiting = (message: string): void =>
        logger.info({ registration: name, key: privateKeyPin(key), message }, 'waiting to be let in');
      const certificate = await ofHub(awaitCertificate(client, name, key, { signal, clock, onWaiting }), hub, 'token');
      if (certificate === undefined) continue;
      await ofMember(saveAgentCredential(member, { ...credential, certificate }, signal));
      logger.info({ registration: name, clusterId }, 'joined the hub');
      return { ...credential, authority, certificate };
    }
  } finally {
    await client.transport.close();
  }
}

/** How long the hub's rights for a new certificate may take to reach every part of it, ms. */
const SETTLING_MS = 10_000;

/** As {@link readCluster} for a certificate that was issued just now. */
async function settled(client: Client, options: JoinHubOptions): Promise<void> {
  const { clock, signal } = options;
  for (const deadline = clock.monotonic() + SETTLING_MS; ; ) {
    try {
      return await readCluster(client, options.claim.clusterName, options);
    } catch (error) {
      const refused = error instanceof JoinError && error.code === 'CredentialRefused';
      if (refused && clock.monotonic() < deadline) await sleep(clock, 200, signal);
      else {
        await client.transport.close();
        throw error;
      }
    }
  }
}

/** Whether the hub takes the certificate, has given it the rights it needs, and still has the cluster. */
async function readCluster(client: Client, clusterName: string, { hub, signal }: JoinHubOptions): Promise<void> {
  const reading = client.resource(CLUSTERS).get({ name: clusterName }, { signal });
  const cluster = await ofHub(
    reading.catch((error: unknown) => {
      if (isNotFound(error)) return undefined;
      throw error;
    }),
    hub,
    'certificate',
  );
  if (cluster) return;
  throw new JoinError('CredentialRefused', `the hub ${hub.server} has no cluster "${clusterName}" any more: it left`);
}

/** Said before anything is changed: a request under the new name would cost the certificate of the old one. */
function joinedAsAnother(joinedAs: string, { hub, claim }: JoinHubOptions): JoinError {
  return new JoinError(
    'JoinedAsAnother',
    `this cluster has joined the hub ${hub.server} as "${joinedAs}": start its agent with that name; for "${claim.clusterName}" ` +
      `delete the Cluster "${joinedAs}" in the hub first`,
  );
}

function certifiedHub(
  options: JoinHubOptions,
  credential: AgentCredential & { certificate: string; authority: string },
  { issuedNow }: { issuedNow: boolean },
): CertifiedHub {
  const { key, certificate, authority } = credential;
  return { ...hubClient(options, authority, { kind: 'certificate', cert: certificate, key }), credential, issuedNow };
}

function hubClient(
  { hub, userAgent }: JoinHubOptions,
  caData: string,
  credential: Credential,
): { client: Client; transport: HttpTransport; connection: Connection; refusals: Refusals } {
  const connection = { server: hub.server, proxyUrl: hub.proxyUrl, caData, credential };
  const refusals = new Refusals();
  const transport = createTransport(connection, { watchesApart: false, refusals });
  return { client: createClient({ transport, userAgent }), transport, connection, refusals };
}

/** What tells one token from another, and may be kept: the id of a bootstrap token, a digest of any other. */
function publicPartOf(token: string): string {
  const bootstrap = /^([a-z0-9]{6})\.[a-z0-9]{16}$/.exec(token);
  return bootstrap?.[1] ?? createHash('sha256').update(token).digest('hex').slice(0, 12);
}

function ofHub<T>(call: Promise<T>, { server }: HubAddress, carried: 'token' | 'certificate'): Promise<T> {
  return call.catch((error: unknown) => {
    throw explainHubFailure(error, server, carried) ?? error;
  });
}

function ofMember<T>(call: Promise<T>): Promise<T> {
  return call.catch((error: unknown) => {
    throw explainMemberFailure(error) ?? error;
  });
}
