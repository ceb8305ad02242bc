import { ClientError } from '../client-error.ts';

const REFUSED = 'nothing listens there; is the server up, and the port right?';
const NO_NAME = 'the name does not resolve';
const NO_ROUTE = 'no way there from this machine';
const UNTRUSTED =
  'none of the certificates that this connection trusts signed it, directly or through the certificates that the server sends; ' +
  "check the connection's certificate authority";
const CLOCK = 'check the certificate, and the clocks of both machines';
const NOT_TLS = 'what listens there does not speak TLS as expected; is it https, and the right port?';

/** OpenSSL's codes of a certificate that no trusted authority has signed. */
const UNKNOWN_AUTHORITY = [
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'CERT_SIGNATURE_FAILURE',
];

/** What to do about it, by the system's and OpenSSL's codes. */
const REMEDIES: Record<string, string> = {
  ECONNREFUSED: REFUSED,
  ENOTFOUND: NO_NAME,
  EAI_AGAIN: NO_NAME,
  EHOSTUNREACH: NO_ROUTE,
  ENETUNREACH: NO_ROUTE,
  ...Object.fromEntries(UNKNOWN_AUTHORITY.map((code) => [code, UNTRUSTED])),
  CERT_HAS_EXPIRED: CLOCK,
  CERT_NOT_YET_VALID: CLOCK,
  EPROTO: NOT_TLS,
  ERR_SSL_WRONG_VERSION_NUMBER: NOT_TLS,
  ERR_SSL_PACKET_LENGTH_TOO_LONG: NOT_TLS,
};

/** The code of a connection that ended without the system saying why. */
const CONNECTION_LOST = 'ERR_CONNECTION_LOST';

/**
 * Makes a `ClientError` of whatever a socket, TLS or HTTP/2 threw. One that is a `ClientError` already stays as it is. `via` is the
 * proxy in between, as it may be shown.
 */
export function networkError(cause: unknown, server: string, doing: 'reach' | 'read from', via?: string): ClientError {
  if (cause instanceof ClientError) return cause;
  const error = firstOf(cause);
  const code = error.code ?? CONNECTION_LOST;
  const proxied = via !== undefined && UNKNOWN_AUTHORITY.includes(code);
  const remedy = proxied ? `${UNTRUSTED}; a proxy that ends TLS itself has to let this server's pass` : REMEDIES[code];
  const through = via === undefined ? '' : ` through the proxy ${via}`;
  return new ClientError(
    `cannot ${doing} ${server}${through}: ${error.message || code}${remedy ? ` (${remedy})` : ''}`,
    {
      code,
      server,
      cause,
    },
  );
}

/** Several addresses that failed come as one AggregateError without a message. */
function firstOf(cause: unknown): NodeJS.ErrnoException {
  if (cause instanceof AggregateError && cause.errors.length > 0) return cause.errors[0] as NodeJS.ErrnoException;
  return cause instanceof Error ? cause : new Error('the connection was closed');
}

/** The connection was there, and is no more. */
export function isConnectionLost(error: unknown): boolean {
  return error instanceof ClientError && ['ECONNRESET', 'EPIPE', CONNECTION_LOST].includes(error.code);
}

/** Whether a code is of a server whose certificate no trusted authority has signed. */
export function isUnknownAuthority(code: string): boolean {
  return UNKNOWN_AUTHORITY.includes(code);
}
