import type { Transport } from '@asterism/client';
import type { ApiExtension, ExtensionContext, ExtensionResource } from '../http/api-extension.ts';
import type { ApiResponse } from '../http/api-request.ts';
import { callerHeaders } from './caller-headers.ts';
import { answerHeaders, checkPath, forwardedRequest } from './forwarded-request.ts';
import { forwardFailure } from './forward-failure.ts';

/** A resource of the other server, as discovery and OpenAPI shall name it here. */
export type ForwardedResource = Omit<ExtensionResource, 'authorization' | 'handle' | 'upgrade'>;

export interface ForwardGroupVersionOptions {
  group: string;
  version: string;
  /** To the other server, as an identity that may impersonate every caller there. Not closed with the server. */
  transport: Transport;
  resources: readonly ForwardedResource[];
  /**
   * Called before an object is sent that may be a new one (POST, PUT, server-side apply), if its caller may create it: to make
   * sure there of what it needs, such as its namespace. `context.request.query` says whether it is a dry run. When it rejects,
   * so does the request.
   */
  beforeCreate?(context: ExtensionContext): Promise<void>;
}

/**
 * Passes a whole group-version on to another API server, as the caller: verbs, watches, Tables, protobuf, patches, warnings and
 * refusals are that server's, and so is the decision who may do what.
 *
 * Callers keep their names and groups, `system:masters` too. So this is for servers with `delegation` to that same API server
 * alone, where everybody is who he is there: a server refuses it otherwise. The caller's credentials stay behind; a name that
 * does not survive as a header is refused (F1 in `callerHeaders`).
 */
export function forwardGroupVersion(options: ForwardGroupVersionOptions): ApiExtension {
  const { group, version, resources } = options;
  const handle = (context: ExtensionContext): Promise<ApiResponse> => forward(context, options);
  return {
    group,
    version,
    actsAsCaller: true,
    resources: resources.map((resource) => ({ ...resource, authorization: 'handler', handle })),
  };
}

async function forward(context: ExtensionContext, options: ForwardGroupVersionOptions): Promise<ApiResponse> {
  const { request, user } = context;
  checkPath(request.path);
  const caller = callerHeaders(user);
  if (options.beforeCreate !== undefined && (await mayCreate(context, options))) await options.beforeCreate(context);
  try {
    const { status, headers, body } = await options.transport.request(forwardedRequest(context, caller));
    return { status, headers: answerHeaders(headers), body };
  } catch (error) {
    if (request.signal.aborted) throw error;
    throw forwardFailure(options, error);
  }
}

/** Whether an object may come of it that was not there, in the rights of its caller as well. */
async function mayCreate(context: ExtensionContext, { group, version }: ForwardGroupVersionOptions): Promise<boolean> {
  const { namespace, name, request, resource, subresource, verb } = context;
  if (subresource !== undefined) return false;
  const applies = /^application\/apply-patch\b/.test(String(request.headers['content-type'] ?? ''));
  if (verb !== 'create' && verb !== 'update' && !(verb === 'patch' && applies)) return false;
  const about = { group, version, resource, ...(namespace === undefined ? {} : { namespace }) };
  for (const each of new Set([verb, 'create'])) {
    const named = name === undefined ? {} : { name };
    if (!(await context.authorize({ ...about, ...named, verb: each })).allowed) return false;
  }
  return true;
}
