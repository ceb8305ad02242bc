import type { SecureContextOptions, Server } from 'node:tls';

/** The part of TLS options that says which certificates are trusted. */
export type TrustAnchors = Pick<SecureContextOptions, 'ca' | 'allowPartialTrustChain'>;

/**
 * TLS options that trust these certificates (PEM) and nothing else; without any, the system's authorities. Every one of them is an anchor, as
 * with Go's `x509.CertPool`: an authority that another one signed, and a pinned server certificate, are enough by themselves. OpenSSL alone
 * would ask for the root too. Names, dates and usages are still checked.
 *
 * Everything that verifies a peer gets its `ca` here, clients and servers alike. A server also needs {@link trustAnchorsOnServer}.
 */
export function trustAnchors(authorities: string | Buffer | readonly string[] | undefined): TrustAnchors {
  if (authorities === undefined) return {};
  const ca = typeof authorities === 'string' || Buffer.isBuffer(authorities) ? authorities : [...authorities];
  return { ca, allowPartialTrustChain: true };
}

/**
 * Applies `allowPartialTrustChain` to a server that has just got its TLS options, by its constructor or by `setSecureContext`: Node 24's servers
 * leave that option out. Without it such a server still trusts authorities that signed themselves.
 */
export function trustAnchorsOnServer(server: Server): void {
  const { _sharedCreds } = server as { _sharedCreds?: { context?: { setAllowPartialTrustChain?(): void } } };
  _sharedCreds?.context?.setAllowPartialTrustChain?.();
}
