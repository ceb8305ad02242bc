import { ClientError } from './client-error.ts';
import type { Impersonation } from './connection.ts';
import { decodeHeaderText, encodeHeaderText } from './header-text.ts';
import type { Headers } from './transport.ts';

/** The headers of user impersonation, and those by which a front proxy names a caller. */
export type IdentityPrefix = 'impersonate-' | 'x-remote-';

const PREFIXES: readonly IdentityPrefix[] = ['impersonate-', 'x-remote-'];
const ASCII = /^[\x20-\x7e]+$/;
const CAPITAL = /[A-Z]/;

/**
 * The headers that name a user to an API server. No other code builds them.
 *
 * - (N1) The receiver reads exactly this identity, over HTTP/1.1, HTTP/2 and in an upgrade. An identity that headers cannot carry
 *   is refused: `identityFault` says why.
 * - (N2) Text is sent as UTF-8. Keys of `extra` are percent-encoded.
 * - (N3) Several groups are several headers: a comma is part of a name.
 * - (N4) Capitals in a key of `extra` are lowered, as every client of Kubernetes sends them. `identityFault` refuses such a key, for
 *   callers that must not change a name.
 *
 * @throws ClientError `ERR_IDENTITY`
 */
export function identityHeaders(given: Impersonation, prefix: IdentityPrefix = 'impersonate-') {
  const identity = given.extra === undefined ? given : { ...given, extra: withLowerKeys(given.extra) };
  const fault = identityFault(identity);
  if (fault !== undefined) throw new ClientError(`${fault} cannot be sent in a header`, { code: 'ERR_IDENTITY' });
  const { user, groups = [], uid, extra = {} } = identity;
  const headers: Record<string, string | string[]> = { [`${prefix}user`]: encodeHeaderText(user) };
  if (uid) headers[`${prefix}uid`] = encodeHeaderText(uid);
  if (groups.length > 0) headers[`${prefix}group`] = groups.map(encodeHeaderText);
  for (const [key, values] of Object.entries(extra)) {
    headers[`${prefix}extra-${encodeKey(key)}`] = values.map(encodeHeaderText);
  }
  return headers;
}

/**
 * The part of an identity that no header carries unchanged, in words; undefined where there is none. An empty name would be no
 * identity at all; blanks at an end are cut off by receivers of HTTP/1.1; control characters end or spoil a header; half a
 * surrogate pair has no UTF-8. Capitals in a key of `extra` count where keys must arrive `exact`.
 */
export function identityFault(
  { user, groups = [], uid, extra = {} }: Impersonation,
  keys: 'exact' | 'lowered' = 'exact',
): string | undefined {
  if (!isCarried(user)) return told('user name', user);
  if (uid && !isCarried(uid)) return told('uid', uid);
  for (const group of groups) if (!isCarried(group)) return told('group', group);
  for (const key of Object.keys(extra)) {
    if (key === '' || (keys === 'exact' && CAPITAL.test(key)) || !key.isWellFormed()) return told('extra key', key);
    for (const value of extra[key] as readonly string[]) {
      if (value !== '' && !isCarried(value)) return told('extra value', value);
    }
  }
  return undefined;
}

/** Whether a header (in lower case) is one of those that {@link identityHeaders} makes, or looks like one. */
export function claimsIdentity(name: string): boolean {
  return PREFIXES.some((prefix) => name.startsWith(prefix));
}

/** All values of an identity header as text; undefined where one is not UTF-8, so that nobody can say whom it names. */
export function readIdentityHeader(value: Headers[string]): string[] | undefined {
  const values: string[] = [];
  for (const each of value === undefined ? [] : typeof value === 'string' ? [value] : value) {
    const text = decodeHeaderText(each);
    if (text === undefined) return undefined;
    values.push(text);
  }
  return values;
}

/**
 * The key of `extra` that a header name holds behind its prefix. As upstream, lowered first, and as it came where it is no
 * percent-encoding; undefined where it encodes something else than UTF-8.
 */
export function readExtraKey(encoded: string): string | undefined {
  const lowered = encoded.toLowerCase();
  try {
    return decodeURIComponent(lowered);
  } catch {
    return /%(?![0-9a-f]{2})/.test(lowered) ? lowered : undefined;
  }
}

/** Whether a header carries text to its end as it is. */
function isCarried(text: string): boolean {
  if (ASCII.test(text)) return !text.startsWith(' ') && !text.endsWith(' ');
  return text !== '' && text === text.trim() && !/\p{Cc}/u.test(text) && text.isWellFormed();
}

/** A header name (a token of RFC 9110) in percent-encoding, and all in lower case, as HTTP/2 wants it. */
function encodeKey(key: string): string {
  return encodeURIComponent(key).replaceAll('(', '%28').replaceAll(')', '%29').toLowerCase();
}

function withLowerKeys(extra: NonNullable<Impersonation['extra']>): NonNullable<Impersonation['extra']> {
  if (!Object.keys(extra).some((key) => CAPITAL.test(key))) return extra;
  const lowered = new Map<string, readonly string[]>();
  for (const [key, values] of Object.entries(extra)) {
    const name = key.replace(/[A-Z]/g, (capital) => capital.toLowerCase());
    lowered.set(name, [...(lowered.get(name) ?? []), ...values]);
  }
  return Object.fromEntries(lowered);
}

function told(what: string, text: string): string {
  return `the ${what} ${JSON.stringify(text)}`;
}
