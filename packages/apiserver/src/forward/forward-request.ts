import type { ExtensionContext } from '../http/extension/api-extension.ts';
import type { ApiResponse } from '../contract/api-request.ts';
import { callerHeaders } from './caller-headers.ts';
import { forwardFailure } from './forward-failure.ts';
import type { ForwardGroupVersionOptions } from './forward-group-version.ts';
import { answerOf, checkPath, forwardedRequest } from './forwarded-request.ts';

/** One request, asked of the other server as its caller. */
export async function forwardRequest(
  context: ExtensionContext,
  options: ForwardGroupVersionOptions,
): Promise<ApiResponse> {
  const { request, user } = context;
  checkPath(request.path);
  const caller = callerHeaders(user);
  if (options.beforeCreate !== undefined && (await mayCreate(context, options))) await options.beforeCreate(context);
  try {
    return answerOf(await options.transport.request(forwardedRequest(context, caller)), context);
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
