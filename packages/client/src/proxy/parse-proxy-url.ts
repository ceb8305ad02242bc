import { ClientError } from '../client-error.ts';

/** A proxy that connects to other servers (HTTP CONNECT). */
export interface ProxyAddress {
  host: string;
  port: number;
  /** The proxy itself is spoken to over TLS. */
  secure: boolean;
  /** The value of `Proxy-Authorization`. */
  authorization: string | undefined;
  /** For messages: the address without user and password. */
  shown: string;
}

/**
 * Reads `http://[user:password@]host[:port]` or `https://…`; without a scheme it is http, as in Go.
 *
 * @param from what holds the address, for messages: they never quote it, since it may hold a password.
 * @throws ClientError `ERR_PROXY_URL`.
 */
export function parseProxyUrl(text: string, from = 'proxyUrl'): ProxyAddress {
  const written = /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`;
  const url = URL.canParse(written) ? new URL(written) : undefined;
  if (!url?.hostname) throw refused(`${from} is not the address of a proxy: http://host:port is`);
  const scheme = url.protocol.slice(0, -1);
  if (scheme !== 'http' && scheme !== 'https') {
    throw refused(`${from} names a proxy of the kind "${scheme}": http and https are spoken (the method CONNECT)`);
  }
  const secure = scheme === 'https';
  return {
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: Number(url.port || (secure ? 443 : 80)),
    secure,
    authorization: authorizationOf(url, from),
    shown: `${scheme}://${url.host}`,
  };
}

function authorizationOf({ username, password }: URL, from: string): string | undefined {
  if (username === '' && password === '') return undefined;
  try {
    const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
    return `Basic ${Buffer.from(pair).toString('base64')}`;
  } catch {
    throw refused(`user and password in ${from} are not percent-encoded: a "%" in them is written "%25"`);
  }
}

function refused(message: string): ClientError {
  return new ClientError(message, { code: 'ERR_PROXY_URL' });
}
