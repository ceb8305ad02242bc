import { once } from 'node:events';
import { createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, connect, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { SERVER_CERT, SERVER_KEY } from './certificates.ts';

export interface ConnectProxyOptions {
  /** `user:password` that it wants. */
  credential?: string;
  /** Answers so in place of a connection. */
  refuse?: { status: number; reason: string };
  /** TLS, by the certificate of the fake server. */
  secure?: boolean;
  /** Says so in place of HTTP. */
  garbage?: string;
  /** Says nothing at all. */
  silent?: boolean;
}

export interface ConnectProxy extends AsyncDisposable {
  readonly port: number;
  /** What it was asked to connect to, in order. */
  readonly asked: string[];
}

/** A proxy that knows CONNECT alone, on 127.0.0.1; names are taken for this machine. */
export async function startConnectProxy(options: ConnectProxyOptions = {}): Promise<ConnectProxy> {
  const { credential, refuse, secure, garbage, silent } = options;
  const server = secure ? createTlsServer({ cert: SERVER_CERT, key: SERVER_KEY }) : createServer();
  const asked: string[] = [];
  const sockets = new Set<Duplex>();
  const keep = (socket: Duplex): void => void sockets.add(socket.on('error', () => {}));
  server.on('connection', keep).on('tlsClientError', () => {});
  server.on('connect', ({ url = '', headers }, near: Duplex, head: Buffer) => {
    keep(near);
    asked.push(url);
    if (silent) return;
    if (garbage !== undefined) return void near.end(garbage);
    const wanted = credential === undefined ? undefined : `Basic ${Buffer.from(credential).toString('base64')}`;
    if (headers['proxy-authorization'] !== wanted) {
      return void near.end('HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic\r\n\r\n');
    }
    if (refuse) return void near.end(`HTTP/1.1 ${refuse.status} ${refuse.reason}\r\n\r\n<html>`);
    const far: Socket = connect(Number(new URL(`tcp://${url}`).port), '127.0.0.1', () => {
      near.write('HTTP/1.1 200 Connection established\r\n\r\n');
      if (head.length > 0) far.write(head);
      near.pipe(far).pipe(near);
    });
    keep(far);
    far.on('close', () => near.destroy());
    near.on('close', () => far.destroy());
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    port,
    asked,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
