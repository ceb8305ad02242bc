import { ClientError } from '@asterism/client';

/** What a member's administrator lists to an agent beside its own API server, and how both ends write it. */

const ORIGIN = /^(https?):\/\/(\[[0-9a-f:.]+\]|[a-z0-9_.-]+)(:\d{1,5})?\/?$/i;

const DEFAULT_PORT: Readonly<Record<string, number>> = { http: 80, https: 443 };

/**
 * One spelling for each place: `https://host:port` or `http://host:port`, the host in small letters, the port always there.
 * Undefined where the text is no such thing. Names are compared as names: `localhost` is not `127.0.0.1`.
 */
export function readOrigin(text: string): string | undefined {
  const [, scheme, host, port] = ORIGIN.exec(text) ?? [];
  if (scheme === undefined || host === undefined || !URL.canParse(text)) return undefined;
  const { hostname } = new URL(text);
  const number = port === undefined ? DEFAULT_PORT[scheme.toLowerCase()] : Number(port.slice(1));
  return number === undefined || number === 0 ? undefined : `${scheme.toLowerCase()}://${hostname}:${number}`;
}

/** Reads one entry of the list. In words, what is wrong with it; a password is not repeated. */
export function parseDestination(text: string): { origin: string } | { fault: string } {
  const origin = readOrigin(text);
  if (origin !== undefined) return { origin };
  if (text.includes('@')) return { fault: 'a destination has no user and no password: https://HOST:PORT' };
  const shown = JSON.stringify(text);
  if (text.includes('*'))
    return { fault: `${shown} is a pattern: destinations are listed one by one, https://HOST:PORT` };
  if (!/^https?:\/\//i.test(text)) return { fault: `${shown} is not https://HOST:PORT or http://HOST:PORT` };
  if (/^https?:\/\/[^/?#]+[/?#]/i.test(text)) {
    return { fault: `${shown} has a path: a destination is all of https://HOST:PORT, whatever the path` };
  }
  return { fault: `${shown} is not https://HOST:PORT or http://HOST:PORT` };
}

/** Reads a whole list. Throws a `ClientError` (`ERR_SERVER_URL`) for what is no destination. */
export function readDestinations(texts: readonly string[]): string[] {
  return texts.map((text) => {
    const parsed = parseDestination(text);
    if ('origin' in parsed) return parsed.origin;
    throw new ClientError(parsed.fault, { code: 'ERR_SERVER_URL' });
  });
}
