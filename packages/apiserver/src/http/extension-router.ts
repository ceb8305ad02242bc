import { formatApiVersion } from '@asterism/machinery';
import type { Authorizer } from '../authorization/authorizer.ts';
import { methodNotAllowed, resourceNotServed } from './answer.ts';
import type { ApiCall } from './api-call.ts';
import type { ApiExtension, ConnectHandler, ExtensionContext, ExtensionResource } from './api-extension.ts';
import type { ApiRequest, ApiResponse, Headers } from './api-request.ts';
import type { RequestInfo } from './request-info.ts';

/** What a request is handed to. */
export type ExtensionHandler = Pick<ExtensionResource, 'authorization' | 'handle' | 'upgrade'>;

export interface ExtensionRouterOptions {
  authorizer: Authorizer;
  connects?: readonly ConnectHandler[] | undefined;
  /** Further headers (in lower case) that say who the caller is: no handler sees them. */
  isIdentityHeader?: ((name: string) => boolean) | undefined;
}

/** The group-versions that code serves, and the way of a request to its handler. */
export class ExtensionRouter {
  readonly #extensions: ApiExtension[] = [];
  readonly #connects = new Map<string, ExtensionHandler>();
  readonly #authorizer: Authorizer;
  readonly #isIdentityHeader: (name: string) => boolean;

  constructor(options: ExtensionRouterOptions) {
    const { authorizer, connects = [], isIdentityHeader = () => false } = options;
    this.#authorizer = authorizer;
    this.#isIdentityHeader = isIdentityHeader;
    for (const connect of connects) {
      const key = `${connect.group}/${connect.resource}/${connect.subresource}`;
      if (this.#connects.has(key)) throw new Error(`${key} has a handler already`);
      const { upgrade } = connect;
      this.#connects.set(key, {
        authorization: 'rbac',
        handle: (context) => connect.handle(context),
        ...(upgrade === undefined ? {} : { upgrade: (...call) => upgrade.apply(connect, call) }),
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
    if (!info.isResource) return undefined;
    const connect = this.#connects.get(`${info.group}/${info.resource}/${info.subresource}`);
    if (connect !== undefined) return { resource: connect };
    const extension = this.#versionOf(info);
    if (extension === undefined) return undefined;
    const resource = extension.resources.find((candidate) => candidate.resource === info.resource);
    const misplaced = info.namespace !== '' && resource?.namespaced === false;
    return resource === undefined || misplaced ? {} : { resource };
  }

  async handle({ resource }: { resource?: ExtensionHandler }, call: ApiCall): Promise<ApiResponse> {
    if (resource === undefined) throw resourceNotServed();
    return await resource.handle(this.contextOf(call));
  }

  /** What a handler is told. Credentials stay behind: it acts with the user's name, and may pass headers on. */
  contextOf({ request, info, user }: ApiCall): ExtensionContext {
    if (info.verb === '') throw methodNotAllowed();
    return {
      request: { ...this.#withoutCredentials(request), user },
      user,
      ...(info.namespace === '' ? {} : { namespace: info.namespace }),
      ...(info.named ? { name: info.name } : {}),
      resource: info.resource,
      ...(info.subresource === '' ? {} : { subresource: info.subresource }),
      rest: info.rest,
      verb: info.verb,
      authorize: async (attributes) => await this.#authorizer.authorize({ user, ...attributes }),
    };
  }

  #withoutCredentials(request: ApiRequest): ApiRequest {
    const headers: Headers = {};
    for (const [name, value] of Object.entries(request.headers)) {
      if (!CREDENTIALS.test(name) && !this.#isIdentityHeader(name)) headers[name] = value;
    }
    return { ...request, headers };
  }
}

/** What says, or claims, who somebody is. */
const CREDENTIALS = /^(authorization$|cookie$|impersonate-|x-remote-)/;
