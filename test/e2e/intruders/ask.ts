import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { KeyPair } from '@asterism/apiserver';

/** Where a server listens, and the authority of its certificate. */
export interface Place {
  url: string;
  ca: { cert: string };
}

/** What somebody shows. */
export interface Credential {
  token?: string;
  certificate?: KeyPair;
  headers?: Readonly<Record<string, string | string[]>>;
}

/** What is asked for, as it is sent: not even the path is touched. */
export interface Question {
  method?: string;
  path: string;
  headers?: Readonly<Record<string, string | string[]>>;
  body?: object | string;
  contentType?: string;
}

export interface Answer {
  status: number;
  text: string;
  /** Of the Status, where it is one. */
  reason: string | undefined;
  message: string;
}

/** One request on a TLS connection of its own. */
export async function ask(
  { url, ca }: Place,
  { token, certificate, headers: shown }: Credential,
  { method = 'GET', path, headers: asked, body, contentType = 'application/json' }: Question,
): Promise<Answer> {
  const { hostname, port } = new URL(url);
  const bytes = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
  const headers: Record<string, string | string[]> = {
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    ...shown,
    ...(bytes === undefined ? {} : { 'content-type': contentType, 'content-length': String(Buffer.byteLength(bytes)) }),
    ...asked,
  };
  const request = httpsRequest({ hostname, port, ca: ca.cert, ...certificate, agent: false, method, path, headers });
  request.end(bytes);
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  let text = '';
  for await (const piece of response) text += String(piece);
  return { status: response.statusCode ?? 0, text, ...statusOf(text) };
}

function statusOf(text: string): { reason: string | undefined; message: string } {
  try {
    const { reason, message = '' } = JSON.parse(text) as { reason?: string; message?: string };
    return { reason, message };
  } catch {
    return { reason: undefined, message: text };
  }
}
