import { once } from 'node:events';
import { type ClientHttp2Session, connect, constants, type OutgoingHttpHeaders } from 'node:http2';
import type { Load, LoadTarget } from './load-message.ts';

/** So that a list of some MB never waits for a window. */
const STREAM_WINDOW = 8 * 1024 * 1024;
const SESSION_WINDOW = 64 * 1024 * 1024;

export function authorizationOf({ token }: LoadTarget): OutgoingHttpHeaders {
  return token === undefined ? {} : { authorization: `Bearer ${token}` };
}

export async function openSession({ url, ca, certificate }: LoadTarget): Promise<ClientHttp2Session> {
  const session = connect(url, { ca, ...certificate, settings: { initialWindowSize: STREAM_WINDOW } });
  session.on('error', () => {}); // Its streams tell.
  await once(session, 'connect');
  session.setLocalWindowSize(SESSION_WINDOW);
  return session;
}

/** Requests over a few HTTP/2 connections in turn. */
export class Http2Load {
  readonly #target: LoadTarget;
  readonly #sessions: ClientHttp2Session[];
  readonly #authorization: OutgoingHttpHeaders;
  #turn = 0;

  private constructor(target: LoadTarget, sessions: ClientHttp2Session[]) {
    this.#target = target;
    this.#sessions = sessions;
    this.#authorization = authorizationOf(target);
  }

  static async open(target: LoadTarget, sessions: number): Promise<Http2Load> {
    const opened = await Promise.all(Array.from({ length: sessions }, () => openSession(target)));
    return new Http2Load(target, opened);
  }

  /** Resolves with the bytes of the answer's body; rejects where its status is not 2xx. */
  async send(load: Load, count: number): Promise<number> {
    const number = (load.first ?? 0) + count;
    const fill = (text: string): string =>
      text
        .replaceAll('{n}', String(number))
        .replaceAll('{i}', String(load.modulo === undefined ? number : number % load.modulo));
    const headers: OutgoingHttpHeaders = {
      [constants.HTTP2_HEADER_METHOD]: load.method,
      [constants.HTTP2_HEADER_PATH]: fill(load.path),
      ...this.#authorization,
      accept: 'application/json',
    };
    if (load.contentType !== undefined) headers['content-type'] = load.contentType;
    const turn = this.#turn++ % this.#sessions.length;
    // A server closes a connection that has not been used for a minute or two.
    if (this.#sessions[turn]!.closed) this.#sessions[turn] = await openSession(this.#target);
    return await this.#request(this.#sessions[turn]!, headers, load.body === undefined ? undefined : fill(load.body));
  }

  close(): void {
    for (const session of this.#sessions) session.destroy();
  }

  #request(session: ClientHttp2Session, headers: OutgoingHttpHeaders, body: string | undefined): Promise<number> {
    const stream = session.request(headers, { endStream: body === undefined });
    if (body !== undefined) stream.end(body);
    return new Promise((resolve, reject) => {
      let status = 0;
      let bytes = 0;
      let failed = '';
      stream.on('response', (response) => {
        status = response[':status'] ?? 0;
      });
      stream.on('data', (piece: Buffer) => {
        bytes += piece.length;
        if (status >= 300 && failed.length < 500) failed += piece.toString();
      });
      stream.on('end', () => {
        const what = `${String(headers[':method'])} ${String(headers[':path'])}`;
        if (status >= 200 && status < 300) resolve(bytes);
        else reject(new Error(`${what} was answered ${status}: ${failed.slice(0, 500)}`));
      });
      stream.on('error', reject);
    });
  }
}
