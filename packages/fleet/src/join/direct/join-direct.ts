import { type Client, type ClientCertificate, type Clock, sleep } from '@asterism/client';
import { isNotFound, NAMESPACES, SECRETS, ifFound } from '@asterism/machinery';
import {
  API_VERSION,
  type Cluster,
  CLUSTERS,
  CREDENTIAL_ANNOTATION,
  CREDENTIAL_SECRET,
  clusterNamespace,
  GIVEN_CREDENTIAL,
  HUB_CONFIGURATION,
  HUB_CONFIGURATIONS,
} from '../../api/index.ts';
import { directManifests } from '../access/member-manifests.ts';
import { DEFAULT_PROFILE, type Permissions } from '../access/permissions.ts';
import { removeOtherPermissions } from '../access/resolve-permissions.ts';
import { requestToken } from '../connect/share-credential.ts';
import { applyInMember } from '../install/install-agent.ts';
import { indexOfNewCluster } from '../registration/cluster-of-registration.ts';
import type { RegistrationFacts } from '../registration/request-registration.ts';

/**
 * How long the hub's token in a member without an agent is good, in seconds: a hub that is away for longer than a third of it needs
 * a new one by `aster join --push`. It is renewed at two thirds, and worth nothing once its account is gone.
 */
export const DIRECT_TOKEN_SECONDS = 30 * 24 * 60 * 60;

/** What the hub comes to a member as. */
export interface DirectCredential {
  token?: string | undefined;
  certificate?: ClientCertificate | undefined;
}

export interface DirectJoin {
  clusterName: string;
  /** Where the hub finds the API server; PEM of its authority; the name in its certificate, where it is another. */
  endpoint: { server: string; caBundle: string | undefined; tlsServerName?: string | undefined };
  description?: RegistrationFacts | undefined;
  /** Rights of the account that is made in the member. Default: the profile `platform`. */
  permissions?: Permissions | undefined;
  /** Taken as it is and never renewed; without it an account of the hub's own is made in the member. */
  given?: DirectCredential | undefined;
}

export interface DirectJoinOptions {
  hub: Client;
  member: Client;
  clock: Clock;
  /** How long the hub may take to make what belongs to the cluster, ms. */
  patienceMs: number;
  signal?: AbortSignal | undefined;
  onStep?: ((step: string) => void) | undefined;
}

/** Why a Cluster of that name or id stands in the way; undefined where the join may go on, also for the second time. */
export function directJoinFault(clusterName: string, id: string, clusters: readonly Cluster[]): string | undefined {
  const sameName = clusters.find(({ metadata }) => metadata.name === clusterName);
  if (sameName?.metadata.deletionTimestamp !== undefined) {
    return `cluster "${clusterName}" is leaving: wait until it has left, or aster leave ${clusterName} --force`;
  }
  if (sameName && sameName.spec.id !== id)
    return `the name "${clusterName}" belongs to another cluster: choose another`;
  if (sameName?.spec.publicKeyHash !== undefined) {
    return `"${clusterName}" has joined with an agent: aster leave ${clusterName} first`;
  }
  const sameId = clusters.find(({ metadata, spec }) => spec.id === id && metadata.name !== clusterName);
  return (
    sameId &&
    `this cluster has joined as "${sameId.metadata.name}": give --name ${sameId.metadata.name}, or aster leave it first`
  );
}

/**
 * Joins a cluster that the hub dials, without an agent in it: an account there, the Cluster, its Secret. Each step finds what an
 * earlier run left, so that it can be called again after any failure, and to renew a credential that was lost.
 */
export async function joinDirect(join: DirectJoin, options: DirectJoinOptions): Promise<Cluster> {
  const { hub, member, signal, onStep = () => {} } = options;
  if (!join.given) {
    const { permissions = { profile: DEFAULT_PROFILE } } = join;
    await applyInMember(member, directManifests(permissions), { signal });
    await removeOtherPermissions(member, permissions, signal);
    onStep('the account asterism-hub stands in the cluster');
  }
  const credential = join.given ?? { token: await tokenOf(member, options) };
  const cluster = await ensureCluster(hub, join, await clusterId(member, signal), signal);
  onStep(`the Cluster ${join.clusterName} stands in the hub`);
  await storeCredential(join, credential, options);
  onStep('the hub has its credential');
  return cluster;
}

/** The uid of its namespace `kube-system`. */
export async function clusterId(member: Client, signal?: AbortSignal): Promise<string> {
  const { metadata } = await member.resource(NAMESPACES).get({ name: 'kube-system' }, { signal });
  return metadata?.uid ?? '';
}

const RETRY_MS = 250;

/** An account that was made just now may take a moment to be one. */
async function tokenOf(member: Client, { clock, patienceMs, signal }: DirectJoinOptions): Promise<string> {
  for (const deadline = clock.monotonic() + patienceMs; ; await sleep(clock, RETRY_MS, signal)) {
    try {
      return (await requestToken(member, DIRECT_TOKEN_SECONDS, { clock, signal })).token;
    } catch (error) {
      if (!isNotFound(error) || clock.monotonic() >= deadline) throw error;
    }
  }
}

/** Of a Cluster that is there, only how it is reached is put right: all else is the administrators'. */
async function ensureCluster(
  hub: Client,
  { clusterName, endpoint, description = {}, given }: DirectJoin,
  id: string,
  signal: AbortSignal | undefined,
): Promise<Cluster> {
  const clusters = hub.resource(CLUSTERS);
  const { server, caBundle, tlsServerName } = endpoint;
  const connection: Cluster['spec']['connection'] = {
    type: 'Direct',
    apiEndpoint: server,
    ...(caBundle === undefined ? {} : { caBundle }),
    ...(tlsServerName === undefined ? {} : { tlsServerName }),
    secretRef: { name: CREDENTIAL_SECRET },
  };
  const annotations: Record<string, string> = given ? { [CREDENTIAL_ANNOTATION]: GIVEN_CREDENTIAL } : {};
  const live = await ifFound(clusters.get({ name: clusterName }, { signal }));
  if (live) {
    const { [CREDENTIAL_ANNOTATION]: _, ...others } = live.metadata.annotations ?? {};
    const metadata = { ...live.metadata, annotations: { ...others, ...annotations } };
    return await clusters.update({ ...live, metadata, spec: { ...live.spec, connection } }, { signal });
  }
  const { labels, ...facts } = description;
  const told = Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== undefined));
  const configuration = await ifFound(hub.resource(HUB_CONFIGURATIONS).get({ name: HUB_CONFIGURATION }, { signal }));
  return await clusters.create(
    {
      apiVersion: API_VERSION,
      kind: 'Cluster',
      metadata: { name: clusterName, annotations, ...(labels ? { labels } : {}) },
      spec: { id, syncMode: 'Push', ...told, connection, index: indexOfNewCluster(configuration) },
    },
    { signal },
  );
}

/** The hub makes the Secret, with the namespace; it is only filled here. */
async function storeCredential(
  { clusterName }: DirectJoin,
  credential: DirectCredential,
  { hub, clock, patienceMs, signal }: DirectJoinOptions,
): Promise<void> {
  const encode = (text: string | undefined): string | null =>
    text === undefined ? null : Buffer.from(text).toString('base64');
  const { token, certificate } = credential;
  const data = { token: encode(token), 'tls.crt': encode(certificate?.cert), 'tls.key': encode(certificate?.key) };
  const ref = { namespace: clusterNamespace(clusterName), name: CREDENTIAL_SECRET };
  for (const deadline = clock.monotonic() + patienceMs; ; await sleep(clock, RETRY_MS, signal)) {
    const written = await ifFound(hub.resource(SECRETS).patch(ref, { type: 'merge', body: { data } }, { signal }));
    if (written) return;
    if (clock.monotonic() >= deadline) {
      throw new Error(
        `the hub has not made the Secret ${ref.namespace}/${ref.name} after ${patienceMs / 1000} s: do its controllers run? ` +
          'Call this again to go on',
      );
    }
  }
}
