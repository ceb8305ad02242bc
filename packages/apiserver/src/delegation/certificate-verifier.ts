import type { X509Certificate } from 'node:crypto';

const CLIENT_AUTH = '1.3.6.1.5.5.7.3.2';
const ANY_USAGE = '2.5.29.37.0';

/** Whether a certificate is, at `now` (ms since 1970), one for clients that one of `authorities` signed. */
export type VerifyCertificate = (
  certificate: X509Certificate,
  authorities: readonly X509Certificate[],
  now: number,
) => boolean;

/**
 * Judges certificates by the authorities of the moment, whatever those were when the connection was made: the signature is
 * checked with the authority's key, both are within their time, and the authority is one. As in Go, a certificate that is in the bundle
 * itself vouches for itself.
 *
 * Authorities between the two are not looked for in what the peer sends (Node does not show it when TLS accepted the
 * chain): one whose clients shall be accepted stands in the bundle itself.
 *
 * A signature that was checked is remembered for as long as both certificates are: the next request of a connection costs no
 * cryptography.
 */
export function createCertificateVerifier(): VerifyCertificate {
  const checked = new WeakMap<X509Certificate, WeakMap<X509Certificate, boolean>>();
  const isVouchedFor = (certificate: X509Certificate, authority: X509Certificate): boolean => {
    const known = checked.get(certificate) ?? new WeakMap<X509Certificate, boolean>();
    checked.set(certificate, known);
    const result =
      known.get(authority) ??
      (authority.raw.equals(certificate.raw) ||
        (authority.ca && certificate.checkIssued(authority) && certificate.verify(authority.publicKey)));
    known.set(authority, result);
    return result;
  };
  return (certificate, authorities, now) =>
    isInTime(certificate, now) &&
    isForClients(certificate) &&
    authorities.some((authority) => isInTime(authority, now) && isVouchedFor(certificate, authority));
}

function isInTime(certificate: X509Certificate, now: number): boolean {
  return certificate.validFromDate.getTime() <= now && now <= certificate.validToDate.getTime();
}

/** Without an extended key usage a certificate is for anything (RFC 5280 4.2.1.12). */
function isForClients({ keyUsage }: X509Certificate): boolean {
  const usages = keyUsage as readonly string[] | undefined;
  return usages === undefined || usages.includes(CLIENT_AUTH) || usages.includes(ANY_USAGE);
}
