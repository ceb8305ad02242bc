import {
  claimsIdentity,
  endToEndHeaders,
  type Headers,
  identityHeaders,
  type Impersonation,
  relayedHeaders,
} from '@asterism/client';
import { callerHeader } from './caller-header.ts';

/** Who the caller is: proved to the hub, and never the member's to see. */
const CREDENTIALS = new Set(['authorization', 'cookie']);

/** Whether a header (in lower case) claims to name a caller, to an API server or to an agent: only the hub may name one. */
export function isClaim(name: string): boolean {
  return claimsIdentity(name) || name.startsWith('asterism-');
}

/** How browsers bring a bearer token to a WebSocket: among its protocols. */
const PROTOCOLS = 'sec-websocket-protocol';
const BEARER = /^base64url\.bearer\.authorization\.k8s\.io\./;

export interface ForwardOptions {
  upgrade: boolean;
  /** Through an agent, which is told whose call it is and impersonates; else the member's API server itself is. */
  tunnelled: boolean;
}

/** The headers of a call as the member shall get them: the caller's, without credentials and claims, and its identity. */
export function requestHeaders(headers: Headers, identity: Impersonation, options: ForwardOptions): Headers {
  const forwarded: Headers = Object.fromEntries(
    Object.entries(endToEndHeaders(headers)).filter(([name]) => !CREDENTIALS.has(name) && !isClaim(name)),
  );
  if (forwarded[PROTOCOLS] !== undefined) forwarded[PROTOCOLS] = withoutBearer(forwarded[PROTOCOLS]);
  if (options.upgrade) Object.assign(forwarded, { connection: 'Upgrade', upgrade: headers['upgrade'] });
  return Object.assign(forwarded, options.tunnelled ? callerHeader(identity) : identityHeaders(identity));
}

/** The headers of an answer as the caller gets them. */
export function responseHeaders(headers: Headers): Record<string, string | string[]> {
  return relayedHeaders(headers);
}

function withoutBearer(protocols: string | string[]): string | undefined {
  const kept = [protocols]
    .flat()
    .flatMap((each) => each.split(','))
    .map((each) => each.trim())
    .filter((each) => each !== '' && !BEARER.test(each));
  return kept.length === 0 ? undefined : kept.join(', ');
}
