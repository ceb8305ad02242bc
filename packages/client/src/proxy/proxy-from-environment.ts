import type { Connection } from '../connection.ts';
import { parseServer } from '../http/endpoint.ts';
import { isDirect } from './no-proxy.ts';
import { parseProxyUrl } from './parse-proxy-url.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** In the order in which they are asked; of each the name in capitals first, as in Go, then in lower case. */
const VARIABLES: Record<string, readonly string[]> = {
  'https:': ['HTTPS_PROXY', 'ALL_PROXY'],
  'http:': ['HTTP_PROXY', 'ALL_PROXY'],
};

/**
 * The proxy by which the environment wants a server to be reached, with its password; undefined for none. `NO_PROXY` is read by Go's
 * rules ({@link isDirect}).
 *
 * @throws ClientError `ERR_PROXY_URL` that names the variable and not its value.
 */
export function proxyFromEnvironment(server: string, env: Environment = process.env): string | undefined {
  const url = parseServer(server);
  const found = (VARIABLES[url.protocol] ?? []).flatMap(spellings).find((name) => env[name]);
  const proxy = found === undefined ? undefined : env[found];
  if (found === undefined || proxy === undefined) return undefined;
  const host = url.hostname.replace(/^\[|\]$/g, '').toLowerCase();
  const port = Number(url.port || (url.protocol === 'https:' ? 443 : 80));
  const noProxy = spellings('NO_PROXY').map((name) => env[name]);
  if (isDirect({ host, port }, noProxy.find((value) => value) ?? '')) return undefined;
  parseProxyUrl(proxy, found);
  return proxy;
}

/** The same connection, by the environment's proxy unless it names its own (`proxy-url` of a kubeconfig). */
export function withEnvironmentProxy(connection: Connection, env?: Environment): Connection {
  const proxyUrl = connection.proxyUrl ?? proxyFromEnvironment(connection.server, env);
  return proxyUrl === undefined ? connection : { ...connection, proxyUrl };
}

function spellings(name: string): string[] {
  return [name, name.toLowerCase()];
}
