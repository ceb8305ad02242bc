import {
  endToEndHeaders,
  type Headers,
  relayedAnswer,
  type TransportRequest,
  type TransportResponse,
} from '@asterism/client';
import { badRequest } from '@asterism/machinery';
import type { ExtensionContext } from '../http/extension/api-extension.ts';
import type { ApiResponse } from '../contract/api-request.ts';

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

/** An answer of the other server as the caller gets it. Throws a `ClientError` for one that cannot be passed on. */
export function answerOf(answer: TransportResponse, { request }: ExtensionContext): ApiResponse {
  const { status, headers, body, bytes } = relayedAnswer(answer, { method: request.method, root: '' });
  return { status, headers, body: bytes ?? body };
}

/**
 * Throws 400 for a path that another server could read as a different one: `..` that something on the way resolves, a slash
 * that is encoded here and none there, an empty segment that something on the way leaves out.
 */
export function checkPath(path: string): void {
  const segments = path.split('/');
  if (segments.slice(1, -1).includes('')) throw badRequest('the path has an empty segment');
  for (const segment of segments) {
    const text = decodeURIComponent(segment);
    if (text === '.' || text === '..' || /[/\\\p{Cc}]/u.test(text)) {
      throw badRequest(`the path segment ${JSON.stringify(segment)} is no name of an object`);
    }
  }
}
