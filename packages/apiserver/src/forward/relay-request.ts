import { ClientError, endToEndHeaders, type Headers, relayedAnswer, type Transport } from '@asterism/client';
import { failure } from '@asterism/machinery';
import { answerText } from '../http/answer/answer.ts';
import type { ExtensionContext } from '../http/extension/api-extension.ts';
import type { ApiResponse } from '../contract/api-request.ts';

/** Where a request goes on to. */
export interface Relay {
  transport: Transport;
  /** With its query. */
  path: string;
  /** Put on top of the caller's own. */
  headers: Headers;
  /** It may take its time: a watch, a log, a connection. */
  long: boolean;
  /** Default `refuse`. */
  redirects?: 'refuse' | 'pass';
  /** The path of the proxy, where a `location` that is passed on is one below it. */
  root?: string;
}

/** Kubernetes' way to send a bearer token from a browser. */
const TOKEN_PROTOCOL = /^base64url\.bearer\.authorization\.k8s\.io\./;
const REDIRECTED = 'the backend attempted to redirect this request, which is not permitted';

/**
 * Asks another server, and answers as it does. Nothing follows a redirect for the caller (502), and none of his credentials go
 * along. Rejects with what kept an answer from coming; `relayFailure` says it to the caller.
 */
export async function relayRequest({ request }: ExtensionContext, relay: Relay): Promise<ApiResponse> {
  const { method, bodyStream, signal } = request;
  const { transport, path, long } = relay;
  const bodiless = method === 'GET' || method === 'HEAD';
  const hasBody = request.headers['content-length'] !== undefined || request.headers['transfer-encoding'] !== undefined;
  const headers = { ...relayHeaders(request.headers), ...relay.headers };
  const body = hasBody || !bodiless ? { body: bodyStream } : {};
  const answer = await transport.request({ method, path, headers, ...body, long, signal });
  const passed = relayedAnswer(answer, { method, root: relay.root });
  if (relay.redirects !== 'pass' && isRedirect(answer)) {
    answer.body.destroy();
    return { ...answerText(502, REDIRECTED), body: Buffer.from(REDIRECTED) };
  }
  const { status } = passed;
  return { status, headers: passed.headers, body: passed.bytes ?? passed.body };
}

/** The caller's headers without those of one hop and those that prove who he is. */
export function relayHeaders(headers: Headers): Headers {
  const { 'sec-websocket-protocol': protocols, ...kept } = endToEndHeaders(headers);
  if (protocols === undefined) return kept;
  const offered = [protocols].flat().join(',').split(',');
  const left = offered.map((each) => each.trim()).filter((each) => !TOKEN_PROTOCOL.test(each));
  return left.length === 0 ? kept : { ...kept, 'sec-websocket-protocol': left.join(', ') };
}

export function isRedirect({ status, headers }: { status: number; headers: Headers }): boolean {
  return status >= 300 && status <= 399 && headers.location !== undefined;
}

/** What a caller is told who knows nothing of the server behind: 504 where it took too long, 503 where it cannot be reached. */
export function relayFailure(what: string, error: unknown): ApiResponse | Error {
  const code = error instanceof ClientError ? error.code : 'no answer';
  if (code === 'ERR_INVALID_ANSWER') return answerText(502, `error reading the answer of ${what}: it is malformed\n`);
  if (code === 'ERR_RESPONSE_TIMEOUT') {
    const message = `Timeout: request did not complete within requested timeout: ${what} did not answer`;
    return failure(504, message, { cause: error, details: {} });
  }
  return answerText(503, `error trying to reach ${what}: ${code}\n`);
}
