import { claimsIdentity } from '@asterism/client';
import { formatApiVersion, VERB_BY_METHOD } from '@asterism/machinery';
import type { Authorizer } from '../../contract/authorizer.ts';
import { methodNotAllowed, resourceNotServed } from '../answer/answer.ts';
import type { ApiCall } from '../request/api-call.ts';
import type { ApiExtension, ConnectHandler, ExtensionContext, ExtensionResource } from './api-extension.ts';
import type { ApiRequest, ApiResponse, Headers } from '../../contract/api-request.ts';
import type { RequestInfo } from '../../contract/request-info.ts';

/** What a request is handed to. */
export interface ExtensionHandler
  extends Pick<ExtensionResource, 'auditsUpgrades' | 'authorization' | 'handle' | 'refused' | 'upgrade'> {
  /** It takes any name of a resource there may be: another server knows which there are. */
  isOpen?: true;
}

export interface ExtensionRouterOptions {
  authorizer: Authorizer;
  connects?: readonly ConnectHandler[] | undefined;
  /** Asked before a connection is made; rejects where it must not be. */
  admitConnection?: ((context: ExtensionContext) => Promise<void>) | undefined;
  /** Who serves what another server is registered for, whether it is a resource or a path above one. */
  aggregated?: ((info: RequestInfo) => ExtensionHandler | undefined) | undefined;
  /** Further headers (in lower case) that say who the caller is: no handler sees them. */
  isIdentityHeader?: ((name: string) => boolean) | undefined;
}

/** The group-versions that code serves, and the way of a request to its handler. */
export class ExtensionRouter {
  readonly #extensions: ApiExtension[] = [];
  readonly #connects = new Map<string, ExtensionHandler>();
  readonly #authorizer: Authorizer;
  readonly #isIdentityHeader: (name: string) => boolean;
  readonly #aggregated: (info: RequestInfo) => ExtensionHandler | undefined;

  constructor(options: ExtensionRouterOptions) {
    const { aggregated = () => undefined, authorizer, connects = [], isIdentityHeader = () => false } = options;
    const { admitConnection = async () => {} } = options;
    this.#aggregated = aggregated;
    this.#authorizer = authorizer;
    this.#isIdentityHeader = isIdentityHeader;
    for (const connect of connects) {
      const key = `${connect.group}/${connect.resource}/${connect.subresource}`;
      if (this.#connects.has(key)) throw new Error(`${key} has a handler already`);
      const { upgrade } = connect;
      this.#connects.set(key, {
        authorization: 'rbac',
        handle: async (context) => {
          await admitConnection(context);
          return await connect.handle(context);
        },
        ...(upgrade === undefined
          ? {}
          : {
              upgrade: async (...call) => {
                await admitConnection(call[0]);
                await upgrade.apply(connect, call);
              },
            }),
      });
    }
  }

  get all(): readonly ApiExtension[] {
    return this.#extensions;
  }

  /** Throws where the group-version is served by another extension already. */
  add(extension: ApiExtension): void {
    if (this.#versionOf(extension) !== undefined) {
      throw new Error(`${formatApiVersion(extension)} is served by an extension already`);
    }
    this.#extensions.push(extension);
  }

  #versionOf({ group, version }: { group: string; version: string }): ApiExtension | undefined {
    return this.#extensions.find((extension) => extension.group === group && extension.version === version);
  }

  /** Whose request it is: undefined where the group-version is no extension's; without a resource where that one lacks it. */
  find(info: RequestInfo): { resource?: ExtensionHandler } | undefined {
    const aggregated = this.#aggregated(info);
    if (aggregated !== undefined) return { resource: aggregated };
    if (!info.isResource) return undefined;
    const connect = this.#connects.get(keyOf(info));
    const extension = this.#versionOf(info);
    if (connect === undefined && extension === undefined) return undefined;
    if (hasWatchPrefix(info.path)) return {};
    if (connect !== undefined) return { resource: connect };
    const resource = extension?.resources.find((candidate) => candidate.resource === info.resource);
    const misplaced = info.namespace !== '' && resource?.namespaced === false;
    return resource === undefined || misplaced ? {} : { resource };
  }

  /** Whether the resource that a request names is one that there is. */
  names(found: { resource?: ExtensionHandler } | undefined): boolean {
    return found?.resource !== undefined && found.resource.isOpen !== true;
  }

  async handle({ resource }: { resource?: ExtensionHandler }, call: ApiCall): Promise<ApiResponse> {
    if (resource === undefined) throw resourceNotServed();
    return await resource.handle(this.contextOf(call));
  }

  /** What a handler is told. Credentials stay behind: it acts with the user's name, and may pass headers on. */
  contextOf({ request, info, user, audit, auditId }: ApiCall): ExtensionContext {
    if (info.verb === '' || !isVerbOf(request.method, info)) throw methodNotAllowed();
    return {
      request: { ...this.#withoutCredentials(request, auditId), user },
      user,
      ...(info.namespace === '' ? {} : { namespace: info.namespace }),
      ...(info.named ? { name: info.name } : {}),
      resource: info.resource,
      ...(info.subresource === '' ? {} : { subresource: info.subresource }),
      rest: info.rest,
      verb: info.verb,
      ...(audit === undefined ? {} : { audit: audit.ofHandler() }),
      authorize: async (attributes) => await this.#authorizer.authorize({ user, ...attributes }),
    };
  }

  #withoutCredentials(request: ApiRequest, auditId: string | undefined): ApiRequest {
    const headers: Headers = {};
    for (const [name, value] of Object.entries(request.headers)) {
      if (!isCredential(name) && !this.#isIdentityHeader(name)) headers[name] = value;
    }
    if (auditId !== undefined) headers['audit-id'] = auditId;
    return { ...request, headers };
  }
}

/** Headers that prove, or claim, who a caller is. */
function isCredential(name: string): boolean {
  return name === 'authorization' || name === 'cookie' || claimsIdentity(name);
}

function keyOf({ group, resource, subresource }: RequestInfo): string {
  return `${group}/${resource}/${subresource}`;
}

/**
 * Whether a path has the old prefix `watch/`, which makes a watch of any method. Extensions do not serve it: behind a prefix, what is
 * passed on would be another call than the one that was authorized.
 */
function hasWatchPrefix(path: string): boolean {
  const segments = path.split('/');
  const segment = segments[segments[1] === 'api' ? 3 : 4];
  return segment !== undefined && decodeURIComponent(segment) === 'watch';
}

/** Whether the verb that was authorized is one of the method that a handler passes on. */
function isVerbOf(method: string, { isResource, verb }: RequestInfo): boolean {
  if (!isResource) return true;
  const plain = VERB_BY_METHOD.get(method);
  if (plain === undefined) return false;
  if (verb === plain) return true;
  return plain === 'get' ? verb === 'list' || verb === 'watch' : plain === 'delete' && verb === 'deletecollection';
}
