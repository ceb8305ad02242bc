import { createPrivateKey, X509Certificate } from 'node:crypto';
import type { Client } from '@asterism/client';
import { isNotFound, SECRETS, type Secret } from '@asterism/machinery';
import { AGENT_CREDENTIAL_SECRET, agentOfUser, SYSTEM_NAMESPACE } from '../../api/index.ts';
import { certificatePin } from './public-key-pin.ts';

/** What an agent keeps in its own cluster, and nowhere else. */
export interface AgentCredential {
  /** P-256, PEM. Made once; it is what proves a second claim to the cluster's id. */
  key: string;
  /** The name of the CertificateSigningRequest and ClusterRegistration that are under way, or were last. */
  request?: string | undefined;
  /** Which bootstrap token that request was made with: its public part. Another token is another request. */
  tokenId?: string | undefined;
  /** PEM, once the hub issued it. */
  certificate?: string | undefined;
  /** PEM of the hub's authority, as it was verified at the first contact. */
  authority?: string | undefined;
}

const ENTRIES: Record<keyof AgentCredential, string> = {
  key: 'tls.key',
  certificate: 'tls.crt',
  authority: 'ca.crt',
  request: 'request',
  tokenId: 'token-id',
};

/** Undefined where there is none, or none that can be used. */
export async function loadAgentCredential(member: Client, signal?: AbortSignal): Promise<AgentCredential | undefined> {
  try {
    const ref = { namespace: SYSTEM_NAMESPACE, name: AGENT_CREDENTIAL_SECRET };
    return credentialOf(await member.resource(SECRETS).get(ref, { signal }));
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

/** Creates the Secret, or replaces all that it holds. */
export async function saveAgentCredential(
  member: Client,
  credential: AgentCredential,
  signal?: AbortSignal,
): Promise<void> {
  const secrets = member.resource(SECRETS);
  const metadata = { namespace: SYSTEM_NAMESPACE, name: AGENT_CREDENTIAL_SECRET };
  const secret: Secret = { apiVersion: 'v1', kind: 'Secret', metadata, type: 'Opaque', data: dataOf(credential) };
  try {
    await secrets.patch(
      metadata,
      // Merge, so that what a newer agent may keep beside it stays; `null` takes out what is no more.
      { type: 'merge', body: { data: { ...emptied(), ...secret.data } } },
      { signal },
    );
  } catch (error) {
    if (!isNotFound(error)) throw error;
    await secrets.create(secret, { signal });
  }
}

/** Whether the certificate is for this key, was issued by the hub of `authority` (PEM), and may be shown now. */
export function isUsable(
  credential: AgentCredential | undefined,
  authority: string,
  now: number,
): credential is AgentCredential & { certificate: string } {
  if (!credential?.certificate || !credential.authority) return false;
  const certificate = new X509Certificate(credential.certificate);
  return (
    certificatePin(credential.authority) === certificatePin(authority) &&
    certificate.validToDate.getTime() > now &&
    certificate.checkPrivateKey(createPrivateKey(credential.key))
  );
}

/** The cluster whose agent the certificate names; undefined where it is not an agent's. */
export function certifiedCluster({ certificate }: { certificate: string }): string | undefined {
  const { CN = '' } = new X509Certificate(certificate).toLegacyObject().subject as { CN?: string };
  return agentOfUser(CN);
}

function credentialOf({ data = {} }: Secret): AgentCredential | undefined {
  const read = (entry: keyof AgentCredential) => {
    const value = data[ENTRIES[entry]];
    return value === undefined ? undefined : Buffer.from(value, 'base64').toString();
  };
  const key = read('key');
  if (key === undefined) return undefined;
  return {
    key,
    request: read('request'),
    tokenId: read('tokenId'),
    certificate: read('certificate'),
    authority: read('authority'),
  };
}

function dataOf(credential: AgentCredential): Record<string, string> {
  return Object.fromEntries(
    (Object.keys(ENTRIES) as (keyof AgentCredential)[]).flatMap((entry) => {
      const value = credential[entry];
      return value === undefined ? [] : [[ENTRIES[entry], Buffer.from(value).toString('base64')]];
    }),
  );
}

const emptied = (): Record<string, null> => Object.fromEntries(Object.values(ENTRIES).map((entry) => [entry, null]));
