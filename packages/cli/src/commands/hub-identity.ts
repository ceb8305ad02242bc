import { X509Certificate } from 'node:crypto';
import type { Connection } from '@asterism/client';
import { certificatePin, JoinError, resolveHubAuthority } from '@asterism/fleet/join';

/** What the other side has to know of a hub to find it, and to know it when it sees it. */
export interface HubIdentity {
  server: string;
  /** `sha256:…`, where an agent can find the authority by it: the hub has to show its CA, which a kube-apiserver need not. */
  pin: string | undefined;
  /** PEM; undefined where the system's authorities vouch for the hub. */
  ca: string | undefined;
  /** The address means this machine, whoever uses it. */
  onlyHere: boolean;
}

/** Looks at the hub once, as an agent with the pin would. */
export async function hubIdentity({ server, caData, proxyUrl }: Connection): Promise<HubIdentity> {
  const known = { server, ca: caData, onlyHere: leadsHere(server) };
  for (const pin of pinsOf(caData ?? '')) {
    try {
      await resolveHubAuthority({ server, ca: pin, proxyUrl });
      return { ...known, pin };
    } catch (error) {
      if (!(error instanceof JoinError)) throw error;
    }
  }
  return { ...known, pin: undefined };
}

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

function pinsOf(bundle: string): string[] {
  return (bundle.match(CERTIFICATE) ?? []).map((pem) => certificatePin(new X509Certificate(pem).raw));
}

function leadsHere(server: string): boolean {
  const { hostname } = new URL(server);
  return hostname === 'localhost' || hostname === '[::1]' || hostname.startsWith('127.');
}
