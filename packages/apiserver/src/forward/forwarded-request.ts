import { endToEndHeaders, type Headers, type TransportRequest } from '@asterism/client';
import { badRequest } from '@asterism/machinery';
import type { ExtensionContext } from '../http/api-extension.ts';

/** The caller's request as the other server gets it: the same, but for credentials, which the context has no more. */
export function forwardedRequest({ request, verb }: ExtensionContext, caller: Headers): TransportRequest {
  const { method, path, query, headers, bodyStream, signal } = request;
  const search = query.toString();
  const hasBody = headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;
  const bodiless = method === 'GET' || method === 'HEAD';
  return {
    method,
    path: search === '' ? path : `${path}?${search}`,
    headers: { ...endToEndHeaders(headers), ...caller },
    ...(hasBody || !bodiless ? { body: bodyStream } : {}),
    long: verb === 'watch',
    signal,
  };
}

/** The headers of an answer as the caller shall get them. */
export function answerHeaders(headers: Headers): Record<string, string | string[]> {
  const { 'set-cookie': _, ...rest } = endToEndHeaders(headers);
  return rest;
}

/**
 * Throws 400 for a path that another server could read as a different one: `..` that something on the way resolves, a slash
 * that is encoded here and none there.
 */
export function checkPath(path: string): void {
  for (const segment of path.split('/')) {
    const text = decodeURIComponent(segment);
    if (text === '.' || text === '..' || /[/\\\p{Cc}]/u.test(text)) {
      throw badRequest(`the path segment ${JSON.stringify(segment)} is no name of an object`);
    }
  }
}
