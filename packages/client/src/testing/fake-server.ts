import type { EventEmitter } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import {
  createSecureServer,
  type Http2SecureServer,
  type Http2ServerRequest,
  type Http2ServerResponse,
  type SecureServerOptions,
  type ServerHttp2Session,
} from 'node:http2';
import type { AddressInfo, Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { Connection, Credential } from '../connection.ts';
import { AUTHORITY, SERVER_CERT, SERVER_KEY } from './certificates.ts';

export type FakeRequest = Http2ServerRequest | IncomingMessage;
export type FakeResponse = Http2ServerResponse | ServerResponse;
export type FakeHandler = (request: FakeRequest, response: FakeResponse) => void;

/** A server over real sockets that does what a test tells it, also what no server should do. */
export interface FakeServer extends AsyncDisposable {
  readonly url: string;
  readonly server: Http2SecureServer | Server;
  /** To this server, with its authority. */
  connection(credential?: Credential): Connection;
  /** The open HTTP/2 sessions, oldest first. */
  readonly sessions: ServerHttp2Session[];
  readonly sockets: Set<Socket>;
  /** How many connections there ever were. */
  readonly connections: () => number;
  readonly events: EventEmitter;
}

export interface FakeServerOptions {
  /** Default `h2`, over TLS, which also takes HTTP/1.1; `http1` is TLS that offers nothing else, `plain` is no TLS. */
  protocol?: 'h2' | 'http1' | 'plain';
  tls?: SecureServerOptions;
}

export async function startFakeServer(handler: FakeHandler, options: FakeServerOptions = {}): Promise<FakeServer> {
  const { protocol = 'h2', tls } = options;
  const secure = { cert: SERVER_CERT, key: SERVER_KEY, ...tls };
  const server: Http2SecureServer | Server =
    protocol === 'plain'
      ? createServer(handler)
      : protocol === 'http1'
        ? createTlsServer(secure, handler)
        : createSecureServer({ ...secure, allowHTTP1: true }, handler);
  const sessions: ServerHttp2Session[] = [];
  const sockets = new Set<Socket>();
  let connections = 0;
  server.on(protocol === 'plain' ? 'connection' : 'secureConnection', (socket: Socket | TLSSocket) => {
    connections++;
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket)).on('error', () => {});
  });
  server.on('session', (session: ServerHttp2Session) => {
    sessions.push(session);
    session.on('error', () => {}).on('close', () => sessions.splice(sessions.indexOf(session), 1));
  });
  server.on('sessionError', () => {});
  server.on('clientError', (_: Error, socket: Socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `${protocol === 'plain' ? 'http' : 'https'}://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    server,
    sessions,
    sockets,
    events: server,
    connections: () => connections,
    connection: (credential = { kind: 'none' }) => ({ server: url, caData: AUTHORITY, credential }),
    async [Symbol.asyncDispose]() {
      for (const session of sessions) session.destroy();
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Answers with JSON. */
export function reply(response: FakeResponse, body: unknown, status = 200, headers: Record<string, string> = {}): void {
  (response as ServerResponse).writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
}
