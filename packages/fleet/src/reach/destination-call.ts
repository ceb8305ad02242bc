import { readOrigin } from './destinations.ts';

/** The resource whose subresource `proxy` leads to other servers than API servers, by way of a cluster's agent. */
export const DESTINATIONS = 'destinations';

/** What a call asks of another server than the member's API server. */
export interface DestinationCall {
  /** The method in lower case. */
  verb: string;
  /** As it came. */
  path: string;
  /** '' or `?…`. */
  query: string;
  /** As {@link readOrigin} writes it. */
  destination: string;
}

const WIRE_PATH = /^\/\/(https?)\/([^/?]+)(\/[^?]*)?(\?.*)?$/s;

/** How the hub writes it to an agent: `//https/host:port/path?query`. */
export function wirePath({ destination, path, query }: DestinationCall): string {
  return `//${destination.replace('://', '/')}${path}${query}`;
}

/**
 * Whether a path is one of another server's, as the hub writes it to an agent. HTTP/2 lets no absolute `https://…` stand where a
 * path does; and what begins with two slashes is refused by an agent that knows of no destinations.
 */
export function isDestinationPath(path: string): boolean {
  return WIRE_PATH.test(path);
}

/** Reads such a path. In words, what is wrong with it. */
export function readDestinationCall(method: string, pathWithQuery: string): DestinationCall | { fault: string } {
  const [, scheme, authority, path = '/', query = ''] = WIRE_PATH.exec(pathWithQuery) ?? [];
  if (scheme === undefined || authority === undefined) {
    return { fault: 'a destination is named by https/HOST:PORT/PATH, or http/HOST:PORT/PATH' };
  }
  if (!/^[\x21-\x7e]*$/.test(path + query) || /[#\\]/.test(path + query)) {
    return { fault: 'the path has characters that no path holds' };
  }
  const destination = readOrigin(`${scheme}://${unescaped(authority)}`);
  if (destination === undefined) return { fault: 'behind the scheme stands HOST:PORT, and nothing else' };
  return { verb: method.toLowerCase(), path, query, destination };
}

/** An aggregator escapes the brackets of an IPv6 address. */
function unescaped(authority: string): string {
  try {
    return decodeURIComponent(authority);
  } catch {
    return '';
  }
}
