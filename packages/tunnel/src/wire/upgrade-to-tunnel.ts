import type { Duplex } from 'node:stream';
import { DEFAULT_LIMITS, type TunnelLimits } from '../limits.ts';
import { TunnelError } from '../tunnel-error.ts';
import { type CarrierKind, requestCarrier } from './carriers.ts';
import { type ConnectionOffer, TUNNEL_PROTOCOL } from './connection-offer.ts';
import { headerValue } from './headers.ts';
import { formatRequestHead, parseResponseHead, type ResponseHead, readHead } from './http-head.ts';

export interface UpgradeToTunnelOptions {
  /** Where the hub takes tunnel connections, with query. */
  path: string;
  /** For the `Host` header. */
  host: string;
  offer: ConnectionOffer;
  /** e.g. `Authorization`. */
  headers?: Record<string, string> | undefined;
  /** Default: `upgrade`. */
  carrier?: CarrierKind | undefined;
  /** Default: {@link TUNNEL_PROTOCOL}. */
  protocol?: string | undefined;
  limits?: Partial<TunnelLimits> | undefined;
  signal: AbortSignal;
}

/** What is shown of a refusal's body. */
const SHOWN_BYTES = 1024;

/**
 * Asks on an open (TLS) socket for the tunnel protocol and gives the carrier back when the hub answers 101; bytes that came
 * after the answer are still on it. On failure the socket is destroyed.
 *
 * @throws TunnelError `REFUSED` for another status (with what its body says, and `Retry-After`), `BLOCKED` for a 101 to something
 *   else, `PROTOCOL`, `LOST`.
 */
export async function upgradeToTunnel(socket: Duplex, options: UpgradeToTunnelOptions): Promise<Duplex> {
  const { path, host, offer, headers = {}, carrier = 'upgrade', protocol = TUNNEL_PROTOCOL, limits, signal } = options;
  try {
    const { method, headers: own, carry } = requestCarrier(carrier, offer, { protocol, limits });
    socket.write(formatRequestHead({ method, path, headers: { ...headers, ...own, host } }));
    const head = parseResponseHead(await readHead(socket, { maxBytes: DEFAULT_LIMITS.maxHeaderBytes, signal }));
    if (head.status !== 101) throw await refusalOf(socket, host, head, signal);
    return carry(head.headers, socket);
  } catch (error) {
    socket.on('error', () => {}).destroy();
    throw error;
  }
}

async function refusalOf(socket: Duplex, host: string, head: ResponseHead, signal: AbortSignal): Promise<TunnelError> {
  const text = await shownBody(socket, Number(headerValue(head.headers, 'content-length') ?? Infinity), signal);
  const retryAfter = Number(headerValue(head.headers, 'retry-after') ?? Number.NaN);
  return new TunnelError('REFUSED', `${host} answered ${head.status} to the tunnel${text && `: ${text}`}`, {
    retryAfterMs: Number.isFinite(retryAfter) ? retryAfter * 1000 : undefined,
  });
}

/** The first line of a body, as far as it comes before the end of the connection. */
async function shownBody(socket: Duplex, length: number, signal: AbortSignal): Promise<string> {
  const stop = (): void => void socket.destroy();
  signal.addEventListener('abort', stop, { once: true });
  let text = '';
  try {
    for await (const chunk of socket as AsyncIterable<Buffer>) {
      text += chunk.toString('utf8');
      if (text.length >= Math.min(length, SHOWN_BYTES)) break;
    }
  } catch {
    // What came until the connection broke is all that there is to show.
  } finally {
    signal.removeEventListener('abort', stop);
  }
  return (text.split(/\r?\n/)[0] ?? '').slice(0, SHOWN_BYTES);
}
