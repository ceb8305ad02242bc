import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { checkServerIdentity, connect as connectTls, createSecureContext, type SecureContext } from 'node:tls';
import { withoutTrailing } from '@asterism/machinery';
import type { Clock } from '../clock.ts';
import { ClientError } from '../client-error.ts';
import type { Connection } from '../connection.ts';
import type { Identity } from '../credential.ts';
import { connectThroughProxy } from '../proxy/connect-through-proxy.ts';
import { parseProxyUrl } from '../proxy/parse-proxy-url.ts';
import { networkError } from './network-error.ts';
import { trustAnchors } from './trust-anchors.ts';

/** Where to connect to, and as whom: one set of TLS settings, made once and used by all connections. */
export interface Endpoint {
  /** `https://host:port`, for messages. */
  server: string;
  /** The Host header. */
  host: string;
  /** What every path begins with; empty unless the API stands below the server's root. */
  basePath: string;
  secure: boolean;
  /** A socket that is connected, and through its TLS handshake. */
  dial(protocols: readonly string[]): Promise<DialledSocket>;
}

export interface DialledSocket {
  socket: Socket;
  /** What ALPN chose: `h2`, `http/1.1`, or nothing. */
  protocol: string | undefined;
}

export interface DialOptions {
  clock: Clock;
  timeoutMs: number;
}

export function createEndpoint(connection: Connection, identity: Identity, options: DialOptions): Endpoint {
  const url = parseServer(connection.server);
  const secure = url.protocol === 'https:';
  const port = Number(url.port || (secure ? 443 : 80));
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const server = url.origin;
  const context = secure ? secureContext(connection, identity, server) : undefined;
  const { proxyUrl } = connection;
  const via = proxyUrl === undefined ? undefined : parseProxyUrl(proxyUrl).shown;
  return {
    server,
    host: url.host,
    basePath: withoutTrailing(url.pathname, '/'),
    secure,
    async dial(protocols) {
      const through = proxyUrl === undefined ? undefined : await connectThroughProxy(proxyUrl, { host, port }, options);
      if (!context) {
        if (through) return { socket: through, protocol: undefined };
        return await settle({ server, ...options }, 'connect', () => connectTcp({ host, port, noDelay: true }));
      }
      return await settle({ server, via, ...options }, 'secureConnect', () =>
        connectTls({
          ...(through ? { socket: through } : { host, port }),
          secureContext: context,
          ALPNProtocols: [...protocols],
          rejectUnauthorized: connection.insecureSkipTlsVerify !== true,
          ...nameToVerify(connection.tlsServerName ?? host),
        }),
      );
    },
  };
}

/** Throws a `ClientError` (`ERR_SERVER_URL`) unless it is an http or https address without a password. */
export function parseServer(server: string): URL {
  const url = URL.canParse(server) ? new URL(server) : undefined;
  if (!url || (url.protocol !== 'https:' && url.protocol !== 'http:')) {
    // What stands before an @ may be a password.
    const shown = server.includes('@') ? 'what is given' : JSON.stringify(server);
    throw new ClientError(`${shown} is not the address of a server: https://host:port is`, {
      code: 'ERR_SERVER_URL',
    });
  }
  if (url.username || url.password) {
    throw new ClientError(`the address of ${url.host} holds a password: use a token`, { code: 'ERR_SERVER_URL' });
  }
  return url;
}

function secureContext(connection: Connection, { cert, key }: Identity, server: string): SecureContext {
  try {
    return createSecureContext({
      ...trustAnchors(connection.caData || undefined),
      ...(cert && key ? { cert, key } : {}),
    });
  } catch (cause) {
    throw new ClientError(`the certificates for ${server} cannot be used: ${(cause as Error).message}`, {
      code: 'ERR_CERTIFICATE',
      server,
      cause,
    });
  }
}

/** SNI holds no addresses (RFC 6066), yet the certificate must bear the one asked for. */
function nameToVerify(name: string): object {
  if (isIP(name) === 0) return { servername: name };
  return {
    checkServerIdentity: (_: string, peer: Parameters<typeof checkServerIdentity>[1]) =>
      checkServerIdentity(name, peer),
  };
}

interface Attempt extends DialOptions {
  server: string;
  /** The proxy in between, as it is shown. */
  via?: string | undefined;
}

function settle(
  { server, via, clock, timeoutMs }: Attempt,
  ready: 'connect' | 'secureConnect',
  connect: () => Socket,
): Promise<DialledSocket> {
  return new Promise((resolve, reject) => {
    const socket = connect();
    const fail = (cause: unknown): void => {
      stop();
      socket.destroy();
      reject(networkError(cause, server, 'reach', via));
    };
    const onClose = (): void => fail(new Error('the connection was closed during its set-up'));
    const onReady = (): void => {
      stop();
      const protocol = 'alpnProtocol' in socket ? socket.alpnProtocol : undefined;
      resolve({ socket, protocol: typeof protocol === 'string' ? protocol : undefined });
    };
    const cancelTimer = clock.setTimer(
      () => fail(Object.assign(new Error(`no connection within ${timeoutMs} ms`), { code: 'ETIMEDOUT' })),
      timeoutMs,
    );
    const stop = (): void => {
      cancelTimer();
      socket.off('error', fail).off('close', onClose).off(ready, onReady);
      // Whoever takes the socket over listens; until then an error must not end the process.
      socket.on('error', () => {});
    };
    socket.once('error', fail).once('close', onClose).once(ready, onReady);
  });
}
