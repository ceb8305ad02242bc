import { checkJson, type Headers, readBody, type ReadLimits, type Transport } from '@asterism/client';
import { parseJson } from '@asterism/machinery';
import { frontProxyHeaders } from '../forward/caller-headers.ts';
import type { UserInfo } from '../contract/user-info.ts';

/** The server itself, where it asks for what everybody may know (upstream's names). */
export const AGGREGATOR: UserInfo = { username: 'system:kube-aggregator', groups: ['system:authenticated'] };
/** The server itself, where it asks whether an API answers: that must not fail for want of rights. */
export const CHECKER: UserInfo = { username: 'system:kube-aggregator', groups: ['system:masters'] };

export interface Fetch {
  transport: Transport;
  path: string;
  accept: string;
  /** Of what is known already. */
  etag?: string | undefined;
  signal: AbortSignal;
  limits: ReadLimits;
}

/** `value` is undefined with any other status than 200. */
export interface Fetched {
  status: number;
  headers: Headers;
  value: unknown;
}

const TIMEOUT_MS = 5_000;

/** Reads a document of a server behind this one, within five seconds and the limits. */
export async function fetchJson({ transport, path, accept, etag, signal, limits }: Fetch): Promise<Fetched> {
  const known = etag === undefined ? {} : { 'if-none-match': etag };
  const headers = { accept, ...known, ...frontProxyHeaders(AGGREGATOR) };
  const over = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]);
  const answer = await transport.request({ method: 'GET', path, headers, signal: over });
  const { status, body } = answer;
  if (status !== 200) {
    body.destroy();
    return { status, headers: answer.headers, value: undefined };
  }
  const bytes = await readBody(body, path, { limits, signal: over });
  checkJson(bytes, path, limits);
  return { status, headers: answer.headers, value: parseJson(bytes.toString()) };
}
