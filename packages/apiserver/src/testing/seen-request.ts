import type { TokenUser } from '../contract/authenticator.ts';
import { userOfCertificate } from '../contract/client-certificate.ts';
import type { ApiRequest } from '../contract/api-request.ts';
import { requestInfo } from '../contract/request-info.ts';

/**
 * A request that came over the wire.
 *
 * @example {@link startTestServer}
 */
export interface SeenRequest {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** Of a resource: `get`, `list`, `watch`, `create` …; of another path the method in lower case. */
  readonly verb: string;
  /** `pods`, `deployments.apps`; '' for a path that names none. */
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  /** Whose token or certificate it bears; undefined for nobody's, or a service account's. */
  readonly user: string | undefined;
  /** The status of its answer; undefined until there is one. */
  status: number | undefined;
}

/**
 * Which requests are meant: those that fit everything that is given. A function decides for all else.
 *
 * @example {@link startTestServer}
 */
export type RequestMatch =
  | Partial<Pick<SeenRequest, 'name' | 'namespace' | 'path' | 'resource' | 'status' | 'subresource' | 'user' | 'verb'>>
  | ((request: SeenRequest) => boolean);

/** Reads a request off the wire, without a look at its body. */
export function seeRequest(request: ApiRequest, tokens: ReadonlyMap<string, TokenUser>): SeenRequest {
  const { method, path, query } = request;
  const told = describe(request);
  return { method, path, query, ...told, user: userOf(request, tokens), status: undefined };
}

export function matchesRequest(match: RequestMatch, request: SeenRequest): boolean {
  if (typeof match === 'function') return match(request);
  return Object.entries(match).every(
    ([field, wanted]) => wanted === undefined || request[field as keyof SeenRequest] === wanted,
  );
}

/** The server answers 400 where a path cannot be read. */
function describe({ method, path, query }: ApiRequest) {
  try {
    const { group, resource, verb, subresource, namespace, name } = requestInfo(method, path, query);
    return { verb, resource: group ? `${resource}.${group}` : resource, subresource, namespace, name };
  } catch {
    return { verb: method.toLowerCase(), resource: '', subresource: '', namespace: '', name: '' };
  }
}

function userOf({ headers, peer }: ApiRequest, tokens: ReadonlyMap<string, TokenUser>): string | undefined {
  const named = peer?.certificate && userOfCertificate(peer.certificate);
  if (named !== undefined) return named.username;
  const { authorization } = headers;
  const [, token] = /^bearer +(\S+)$/i.exec(typeof authorization === 'string' ? authorization : '') ?? [];
  return token === undefined ? undefined : tokens.get(token)?.user.username;
}
