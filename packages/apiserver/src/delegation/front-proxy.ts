import { readExtraKey, readIdentityHeader } from '@asterism/client';
import { badRequest } from '@asterism/machinery';
import type { UserInfo } from '../contract/user-info.ts';
import type { Headers } from '../contract/api-request.ts';
import type { FrontProxyConfig } from './authentication-config.ts';

/**
 * Whom a front proxy says that a request is from; undefined where it names nobody. Only for requests of one whose certificate
 * proved that it is the proxy. Throws 400 for a header that is not UTF-8.
 */
export function frontProxyUser(headers: Headers, config: FrontProxyConfig): UserInfo | undefined {
  const username = firstOf(headers, config.usernameHeaders);
  if (username === undefined) return undefined;
  const uid = firstOf(headers, config.uidHeaders);
  const groups = config.groupHeaders.flatMap((name) => valuesOf(headers, name)).filter((group) => group !== '');
  const extra = new Map<string, string[]>();
  for (const prefix of config.extraPrefixes) {
    for (const name of Object.keys(headers)) {
      if (!name.startsWith(prefix)) continue;
      const key = readExtraKey(name.slice(prefix.length));
      if (key === undefined) throw unreadable(name);
      extra.set(key, [...(extra.get(key) ?? []), ...valuesOf(headers, name)]);
    }
  }
  return {
    username,
    ...(uid === undefined ? {} : { uid }),
    groups,
    ...(extra.size === 0 ? {} : { extra: Object.fromEntries(extra) }),
  };
}

/** Whether a header (in lower case) is one of those by which the proxy names the caller. */
export function isFrontProxyHeader(name: string, config: FrontProxyConfig): boolean {
  const { usernameHeaders, uidHeaders, groupHeaders, extraPrefixes } = config;
  if (usernameHeaders.includes(name) || uidHeaders.includes(name) || groupHeaders.includes(name)) return true;
  return extraPrefixes.some((prefix) => name.startsWith(prefix));
}

/** The first that has a value, in the order of the configuration. */
function firstOf(headers: Headers, names: readonly string[]): string | undefined {
  return names.map((name) => valuesOf(headers, name)[0]).find((value) => value !== undefined && value !== '');
}

function valuesOf(headers: Headers, name: string): string[] {
  const values = readIdentityHeader(headers[name]);
  if (values === undefined) throw unreadable(name);
  return values;
}

/** Names are compared as text: bytes that are no text name nobody. */
function unreadable(name: string): Error {
  return badRequest(`the header ${name} is not valid UTF-8`);
}
