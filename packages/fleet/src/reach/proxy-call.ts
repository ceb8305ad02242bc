import type { ApiResponse, ExtensionContext } from '@asterism/apiserver';
import type { Impersonation, Transport, TransportRequest } from '@asterism/client';
import { requestHeaders, responseHeaders } from './forwarded-headers.ts';

/** The call to a member that a caller's call to `clusters/NAME/proxy/…` stands for. */
export function memberRequest(
  { request, rest }: Pick<ExtensionContext, 'request' | 'rest'>,
  identity: Impersonation,
  options: { upgrade: boolean },
): TransportRequest {
  const { method, query, headers } = request;
  const search = query.toString();
  return {
    method,
    path: `${rest === '' ? '/' : rest}${search === '' ? '' : `?${search}`}`,
    headers: requestHeaders(headers, identity, options),
    long: query.get('watch') === 'true' || query.get('watch') === '1' || query.get('follow') === 'true',
    signal: request.signal,
  };
}

/** Passes a call on and its answer back, bytes as they are: nothing is decoded, gathered or kept. */
export async function proxyCall(
  context: ExtensionContext,
  transport: Transport,
  identity: Impersonation,
): Promise<ApiResponse> {
  const { headers } = context.request;
  const hasBody = headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;
  const bodiless = context.request.method === 'GET' || context.request.method === 'HEAD';
  const { status, body, ...answer } = await transport.request({
    ...memberRequest(context, identity, { upgrade: false }),
    ...(hasBody || !bodiless ? { body: context.request.bodyStream } : {}),
  });
  return { status, headers: responseHeaders(answer.headers), body };
}
