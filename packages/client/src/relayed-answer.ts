import { ClientError } from './client-error.ts';
import { endToEndHeaders } from './end-to-end-headers.ts';
import { exactBytes, leaveSoon } from './exact-bytes.ts';
import { isHeader } from './header-text.ts';
import type { Headers, TransportResponse, UpgradeResponse } from './transport.ts';

/** Headers by which a browser or client learns something about the whole origin, and not about this answer. */
const OF_ORIGIN: ReadonlySet<string> = new Set([
  'accept-ch',
  'activate-storage-access',
  'alt-svc',
  'authentication-info',
  'clear-site-data',
  'content-security-policy',
  'content-security-policy-report-only',
  'critical-ch',
  'expect-ct',
  'expect-staple',
  'nel',
  'observe-browsing-topics',
  'origin-agent-cluster',
  'proxy-authentication-info',
  'public-key-pins',
  'public-key-pins-report-only',
  'refresh',
  'report-to',
  'reporting-endpoints',
  'server-timing',
  'service-worker-allowed',
  'set-cookie',
  'set-cookie2',
  'set-login',
  'sourcemap',
  'speculation-rules',
  'strict-transport-security',
  'timing-allow-origin',
  'www-authenticate',
  'x-dns-prefetch-control',
  'x-permitted-cross-domain-policies',
]);
const OF_ORIGIN_PREFIX = /^(?:access-control-|attribution-reporting-|cross-origin-)/;
const SECURITY_PREFIX = 'sec-';
const WEBSOCKET_PREFIX = 'sec-websocket-';

/** Content that no browser runs. A list of types (`a, b`) is none of them: browsers take the last one. */
const INERT = /^(?:application\/(?:json|vnd\.kubernetes\.protobuf)|text\/plain)(?:;[^,]*)?$/i;
/** A browser that renders such an answer gives it no script, no forms, and an origin of its own; and it does not guess the type. */
const SANDBOX = { 'content-security-policy': 'sandbox', 'x-content-type-options': 'nosniff' } as const;

/** Statuses whose answers have no body (RFC 9110 6.4.1). */
const BODILESS: ReadonlySet<number> = new Set([204, 205, 304]);

export interface RelayedAnswer {
  status: number;
  headers: Record<string, string | string[]>;
  body: AsyncIterable<Uint8Array>;
  /** All of the body, where it came as a whole: then `body` need not be looked at. */
  bytes?: Uint8Array | undefined;
}

export interface RelayOptions {
  /** Of the request. */
  method: string;
  /** The path of the proxy: an absolute path in `location` is one below it. */
  root?: string | undefined;
  /** Of the server that answers, `https://host:port`: an absolute URL in `location` with this origin is one below the proxy. */
  origin?: string | undefined;
}

/**
 * An answer of a server that is not trusted, as a proxy may pass it on.
 *
 * - (R1) Its status is 200 to 599. A proxy never passes on a status that nobody asked for.
 * - (R2) Its length is said at most once and is well formed, and no transfer coding is said with it.
 * - (R3) Its body has exactly that length: a shorter or longer one ends in an error, so that the proxy cuts its connection.
 * - (R4) Each header is well formed. Headers of one hop, and headers that speak for the proxy's origin, are dropped.
 * - (R5) A `location` stays below the proxy, or is dropped.
 * - (R6) A browser runs nothing of it on the proxy's origin: content of other types than JSON, Protobuf and plain text is sandboxed.
 *
 * @throws ClientError `ERR_INVALID_ANSWER` for R1, R2, R4, and R3 where the body came as a whole. The body is left then.
 */
export function relayedAnswer(answer: TransportResponse, options: RelayOptions): RelayedAnswer {
  const { status, bytes } = answer;
  try {
    if (!(status >= 200 && status <= 599)) throw invalid(`its status is ${status}`);
    const length = lengthOf(answer.headers);
    const headers = relayedHeaders(answer.headers, options);
    if (!BODILESS.has(status) && !isInert(headers)) Object.assign(headers, SANDBOX);
    if (options.method === 'HEAD') return { status, headers, body: answer.body, bytes };
    if (BODILESS.has(status)) {
      delete headers['content-length'];
      if (bytes === undefined) leaveSoon(answer.body);
      return { status, headers, body: NOTHING, bytes: NO_BYTES };
    }
    if (length === undefined)
      return bytes ? { status, headers, body: NOTHING, bytes } : { status, headers, body: answer.body };
    if (bytes === undefined) return { status, headers, body: exactBytes(answer.body, length, wrongLength) };
    if (bytes.length !== length) throw wrongLength(length);
    return { status, headers, body: NOTHING, bytes };
  } catch (error) {
    if (bytes === undefined) answer.body.destroy();
    throw error;
  }
}

/**
 * The headers of a 101, as a proxy may pass it on to a caller who asked for one of `protocols` (a header `upgrade`).
 *
 * @throws ClientError `ERR_INVALID_ANSWER` where the answer is another protocol, or has a malformed header. The socket is left then.
 */
export function relayedSwitch(
  { headers, socket }: UpgradeResponse,
  protocols: Headers[string],
): Record<string, string | string[]> {
  try {
    const asked = tokensOf(protocols);
    const [taken = '', ...others] = tokensOf(headers['upgrade']);
    if (others.length > 0 || !asked.includes(taken)) {
      throw invalid(`it switches to ${JSON.stringify(taken.slice(0, 40))}, and nobody asked for that`);
    }
    const { 'content-length': _, ...kept } = relayedHeaders(headers, { method: 'GET' });
    return { ...kept, connection: 'Upgrade', upgrade: [headers['upgrade'] ?? ''].flat().join() };
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

/** The headers of an answer without those of one hop and those that speak for the proxy's origin. Throws for a malformed one. */
export function relayedHeaders(given: Headers, { root, origin }: Partial<RelayOptions> = {}) {
  const headers = endToEndHeaders(given);
  for (const name of Object.keys(headers)) {
    const value = headers[name] as string | string[];
    const isFine = typeof value === 'string' ? isHeader(name, value) : value.every((each) => isHeader(name, each));
    if (!isFine) throw invalid(`its header ${JSON.stringify(name.slice(0, 80))} is malformed`);
    if (speaksForOrigin(name)) delete headers[name];
  }
  if (headers['location'] !== undefined) {
    const location = locationBelow(headers['location'], root, origin);
    if (location === undefined) delete headers['location'];
    else headers['location'] = location;
  }
  return headers;
}

/** Plain text is one of them only where browsers do not guess that it is something else. */
function isInert(headers: Record<string, string | string[]>): boolean {
  const type = headers['content-type'];
  if (typeof type !== 'string' || !INERT.test(type)) return false;
  return !type.toLowerCase().startsWith('text/') || headers['x-content-type-options'] === 'nosniff';
}

function speaksForOrigin(name: string): boolean {
  if (name.startsWith(SECURITY_PREFIX)) return !name.startsWith(WEBSOCKET_PREFIX);
  return OF_ORIGIN.has(name) || OF_ORIGIN_PREFIX.test(name);
}

/** Undefined where the location is not below the proxy. */
function locationBelow(
  location: string | string[],
  root: string | undefined,
  origin: string | undefined,
): string | undefined {
  if (typeof location !== 'string') return undefined;
  if (/^[/\\][/\\]/.test(location) || location.includes('\\')) return undefined;
  if (location.startsWith('/')) return root === undefined || hasDots(location) ? undefined : root + location;
  if (/^[a-z][a-z0-9+.-]*:/i.test(location)) {
    const url = URL.parse(location);
    if (url === null || origin === undefined || url.origin !== URL.parse(origin)?.origin) return undefined;
    return locationBelow(url.pathname + url.search + url.hash, root, undefined);
  }
  return hasDots(location) ? undefined : location;
}

function hasDots(path: string): boolean {
  return path
    .replace(/[?#].*$/s, '')
    .split('/')
    .some((segment) => /^(?:\.|%2e){1,2}$/i.test(segment));
}

function lengthOf({ 'content-length': given, 'transfer-encoding': coding }: Headers): number | undefined {
  if (given === undefined) return undefined;
  const text = typeof given === 'string' ? given : given.length === 1 ? (given[0] as string) : '';
  const length = /^\d{1,15}$/.test(text) ? Number(text) : undefined;
  if (length === undefined) throw invalid('its length is malformed, or said more than once');
  if (coding !== undefined) throw invalid('it has a length and a transfer coding');
  return length;
}

function tokensOf(header: Headers[string]): string[] {
  return [header ?? []]
    .flat()
    .flatMap((each) => each.split(','))
    .map((each) => each.trim().toLowerCase())
    .filter((each) => each !== '');
}

function wrongLength(length: number): ClientError {
  return invalid(`its body does not have the ${length} bytes that its head says`);
}

function invalid(why: string): ClientError {
  return new ClientError(`the answer cannot be passed on: ${why}`, { code: 'ERR_INVALID_ANSWER' });
}

const NO_BYTES = new Uint8Array();
const NOTHING: AsyncIterable<Uint8Array> = {
  [Symbol.asyncIterator]: () => ({ next: () => Promise.resolve({ done: true, value: undefined }) }),
};
