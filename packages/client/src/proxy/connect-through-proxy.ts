import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { type Clock, systemClock } from '../clock.ts';
import { ClientError } from '../client-error.ts';
import { networkError } from '../http/network-error.ts';
import type { Destination } from './no-proxy.ts';
import { parseProxyUrl, type ProxyAddress } from './parse-proxy-url.ts';

export interface ProxyDialOptions {
  /** How long the proxy may take for all of it. */
  timeoutMs: number;
  /** Ends the attempt. */
  signal?: AbortSignal | undefined;
  /** Default: the system's. */
  clock?: Clock | undefined;
}

const MAX_HEAD_BYTES = 64 << 10;
/** What is shown of a refusal's reason. */
const SHOWN = 200;

/**
 * A connection to `destination` through a proxy, by the method CONNECT (RFC 9110, 9.3.6): what the proxy does not see into is up to
 * the caller, who does TLS on it.
 *
 * @throws ClientError with the system's code where the proxy is not reached, `ERR_PROXY_REFUSED` with what it answered and what to do,
 *   `ERR_PROXY_URL`. None holds the proxy's password.
 */
export async function connectThroughProxy(
  proxyUrl: string,
  destination: Destination,
  { timeoutMs, signal, clock = systemClock }: ProxyDialOptions,
): Promise<Socket> {
  const proxy = parseProxyUrl(proxyUrl);
  signal?.throwIfAborted();
  const socket = open(proxy);
  const { promise: broken, reject: breakOff } = Promise.withResolvers<never>();
  const onError = (cause: unknown): void => breakOff(networkError(cause, `the proxy ${proxy.shown}`, 'reach'));
  const onClose = (): void => onError(new Error('it closed the connection'));
  const onAbort = (): void => breakOff(signal?.reason);
  const cancelTimer = clock.setTimer(
    () => onError(Object.assign(new Error(`no connection within ${timeoutMs} ms`), { code: 'ETIMEDOUT' })),
    timeoutMs,
  );
  socket.once('error', onError).once('close', onClose);
  signal?.addEventListener('abort', onAbort, { once: true });
  try {
    await Promise.race([ask(socket, proxy, destination), broken]);
    socket.on('error', () => {}); // Whoever takes the socket over listens; until then an error must not end the process.
    return socket;
  } catch (error) {
    socket.on('error', () => {}).destroy();
    throw error;
  } finally {
    cancelTimer();
    socket.off('error', onError).off('close', onClose);
    signal?.removeEventListener('abort', onAbort);
  }
}

function open({ host, port, secure }: ProxyAddress): Socket {
  if (!secure) return connectTcp({ host, port, noDelay: true });
  return connectTls({ host, port, ...(isIP(host) === 0 ? { servername: host } : {}), ALPNProtocols: ['http/1.1'] });
}

async function ask(socket: Socket, proxy: ProxyAddress, { host, port }: Destination): Promise<void> {
  const authority = `${isIP(host) === 6 ? `[${host}]` : host}:${port}`;
  const authorization = proxy.authorization === undefined ? '' : `Proxy-Authorization: ${proxy.authorization}\r\n`;
  // Written at once, it waits for the connection, and for TLS.
  socket.write(`CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n${authorization}\r\n`);
  const head = await readHead(socket, proxy);
  const [, status, reason = ''] = /^HTTP\/1\.[01] (\d{3})(?: ([^\r]*))?/.exec(head) ?? [];
  if (status === undefined) {
    throw refusal(
      `the proxy ${proxy.shown} does not speak HTTP: is it a proxy, and is it ${proxy.secure ? 'https' : 'http'}?`,
    );
  }
  if (status.startsWith('2')) return;
  const answer = `${status} ${reason.slice(0, SHOWN)}`.trim();
  throw refusal(
    `the proxy ${proxy.shown} does not connect to ${authority}: it answered ${answer} (${remedyOf(Number(status), proxy)})`,
  );
}

/** What to do about a proxy's answer. */
function remedyOf(status: number, { authorization, shown }: ProxyAddress): string {
  const [scheme, rest] = shown.split('://');
  if (status === 407) {
    return authorization === undefined
      ? `it wants a user and a password: give them in its address, ${scheme}://USER:PASSWORD@${rest}, where special characters are percent-encoded`
      : 'it does not take the user and the password of its address, or wants another scheme than Basic';
  }
  if (status === 401 || status === 403) {
    return 'its rules forbid it: have CONNECT to this host and port allowed, or name the host in NO_PROXY if it is reached without a proxy';
  }
  if (status === 400 || status === 404 || status === 405 || status === 501) {
    return 'it does not know the method CONNECT: is it the right proxy?';
  }
  if (status >= 500) return 'it cannot reach it itself: is the server up, and does the proxy know its name?';
  return 'it should have answered 200';
}

function refusal(message: string): ClientError {
  return new ClientError(message, { code: 'ERR_PROXY_REFUSED' });
}

/**
 * The head of the proxy's answer; what came behind it is put back. Read by 'readable': a socket that 'data' and `pause` leave behind
 * would stay paused under HTTP/1.1.
 */
function readHead(socket: Socket, proxy: ProxyAddress): Promise<string> {
  return new Promise((resolve, reject) => {
    let held = Buffer.alloc(0);
    const onReadable = (): void => {
      for (let chunk = socket.read() as Buffer | null; chunk !== null; chunk = socket.read() as Buffer | null) {
        held = Buffer.concat([held, chunk]);
      }
      const end = held.indexOf('\r\n\r\n');
      if (end < 0 && held.length <= MAX_HEAD_BYTES) return;
      socket.off('readable', onReadable);
      if (end < 0) {
        return reject(refusal(`the proxy ${proxy.shown} answers with a head of more than ${MAX_HEAD_BYTES} bytes`));
      }
      const rest = held.subarray(end + 4);
      if (rest.length > 0) socket.unshift(rest);
      resolve(held.toString('latin1', 0, end));
    };
    socket.on('readable', onReadable);
  });
}
