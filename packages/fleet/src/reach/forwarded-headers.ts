import { endToEndHeaders, type Headers, type Impersonation, impersonationHeaders } from '@asterism/client';

/** Who the caller is: proved to the hub, and never the member's to see. */
const CREDENTIALS = new Set(['authorization', 'cookie']);

/** By which a caller, or a front proxy, claims to be somebody: only the hub may say who a call is from. */
const CLAIM = /^(impersonate-|x-remote-)/;

/** The headers of a call as the member shall get them: the caller's, without credentials and claims, and its identity. */
export function requestHeaders(headers: Headers, identity: Impersonation, options: { upgrade: boolean }): Headers {
  const forwarded: Headers = Object.fromEntries(
    Object.entries(endToEndHeaders(headers)).filter(([name]) => !CREDENTIALS.has(name) && !CLAIM.test(name)),
  );
  if (options.upgrade) Object.assign(forwarded, { connection: 'Upgrade', upgrade: headers['upgrade'] });
  return Object.assign(forwarded, impersonationHeaders(identity));
}

/** The headers of an answer as the caller shall get them. */
export function responseHeaders(headers: Headers): Record<string, string | string[]> {
  const { 'set-cookie': _, ...forwarded } = endToEndHeaders(headers);
  return forwarded;
}
