import { X509Certificate } from 'node:crypto';
import { type Client, type Clock, sleep, type Validity } from '@asterism/client';
import { CERTIFICATE_SIGNING_REQUESTS, type CertificateSigningRequest, findCondition } from '@asterism/machinery';
import { agentCertificateRequest, certificateFor, newRequestName } from '../registration/request-registration.ts';

export interface RenewCertificateOptions {
  clusterName: string;
  /** PEM. It stays: a cluster is its key. */
  key: string;
  /** With the certificate that is to be replaced. */
  hub: Client;
  clock: Clock;
  signal: AbortSignal;
  /** The first wait between two looks, ms; it grows to twenty times as much. Default 250. */
  intervalMs?: number;
}

/** An approval takes a moment; a hub whose controllers stand still is asked again later, ms. */
const PATIENCE_MS = 60_000;

/** Asks for a new certificate for the same key: resolves with it (PEM), or rejects with what the hub said. */
export async function renewCertificate(options: RenewCertificateOptions): Promise<string> {
  const { clusterName, key, hub, clock, signal, intervalMs = 250 } = options;
  const requests = hub.resource(CERTIFICATE_SIGNING_REQUESTS);
  const name = newRequestName(clusterName);
  await requests.create(agentCertificateRequest(clusterName, key, { name }), { signal });
  const deadline = clock.monotonic() + PATIENCE_MS;
  for (let wait = intervalMs; ; wait = Math.min(wait * 1.5, intervalMs * 20)) {
    const { status } = await requests.get({ name }, { signal });
    if (status?.certificate) return certificateFor(key, Buffer.from(status.certificate, 'base64').toString(), name);
    const refusal = refusalOf(status);
    if (refusal !== undefined) throw new Error(`the hub refuses the request ${name}: ${refusal}`);
    if (clock.monotonic() > deadline) {
      throw new Error(
        `nobody signed the request ${name} within ${PATIENCE_MS / 1000} s: is a signer running at the hub?`,
      );
    }
    await sleep(clock, wait, signal);
  }
}

function refusalOf(status: CertificateSigningRequest['status']): string | undefined {
  const found = findCondition(status?.conditions, 'Denied') ?? findCondition(status?.conditions, 'Failed');
  return found && `${found.reason ?? found.type}: ${found.message ?? ''}`;
}

/** Between when a certificate is good, ms since 1970. */
export function validityOf(certificate: string): { from: number; until: number } {
  const { validFromDate, validToDate } = new X509Certificate(certificate);
  return { from: validFromDate.getTime(), until: validToDate.getTime() };
}

/**
 * The life of a certificate, which for one that was issued just now begins now. Signers date certificates back, by minutes, which of a short
 * life would leave nothing.
 */
export function lifeOf(certificate: string, issuedNow: number | undefined): Validity {
  const { from, until } = validityOf(certificate);
  return { from: issuedNow ?? from, until };
}
