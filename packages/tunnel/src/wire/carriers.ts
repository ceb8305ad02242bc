import type { Duplex } from 'node:stream';
import { answerWebSocket, type Headers, isWebSocketRequest, requestWebSocket } from '@asterism/client';
import type { TunnelLimits } from '../limits.ts';
import { TunnelError } from '../tunnel-error.ts';
import { type ConnectionOffer, offerHeaders, TUNNEL_PROTOCOL } from './connection-offer.ts';
import { headerValue } from './headers.ts';
import { messageOf } from './message-of.ts';
import { WebSocketCarrier } from './websocket-carrier.ts';

/**
 * How a tunnel connection gets through what stands between agent and hub: `upgrade` is HTTP/1.1 Upgrade to a protocol of our own, and
 * from there the bare socket; `websocket` puts the same bytes into WebSocket messages, at half the speed, for boxes that let nothing
 * else pass.
 */
export type CarrierKind = 'upgrade' | 'websocket';

export interface CarrierOptions {
  /** The token of `Upgrade`, or the subprotocol of WebSocket. Default: {@link TUNNEL_PROTOCOL}. */
  protocol?: string | undefined;
  limits?: Partial<TunnelLimits> | undefined;
}

/** What an agent sends to open a connection. */
export interface CarrierRequest {
  /** A WebSocket handshake is a GET (RFC 6455, 4.1); what opens a connection is a POST otherwise. */
  method: 'POST' | 'GET';
  headers: Record<string, string>;
  /** The carrier over a socket whose upgrade was answered with 101 and these headers. @throws TunnelError `BLOCKED`. */
  carry(answer: Readonly<Headers>, socket: Duplex): Duplex;
}

export function requestCarrier(
  kind: CarrierKind,
  offer: ConnectionOffer,
  { protocol = TUNNEL_PROTOCOL, limits }: CarrierOptions = {},
): CarrierRequest {
  if (kind === 'websocket') {
    const { headers, check } = requestWebSocket([protocol]);
    return {
      method: 'GET',
      headers: { ...offerHeaders(offer), ...headers },
      carry(answer, socket) {
        if (agreed(() => check(answer)) !== protocol) throw otherProtocol(protocol);
        return new WebSocketCarrier(socket, { role: 'client', limits });
      },
    };
  }
  return {
    method: 'POST',
    headers: { ...offerHeaders(offer), connection: 'Upgrade', upgrade: protocol },
    carry(answer, socket) {
      if (headerValue(answer, 'upgrade')?.toLowerCase() !== protocol.toLowerCase()) throw otherProtocol(protocol);
      return socket;
    },
  };
}

function agreed(check: () => string): string {
  try {
    return check();
  } catch (cause) {
    throw new TunnelError('BLOCKED', messageOf(cause), { cause });
  }
}

function otherProtocol(protocol: string): TunnelError {
  return new TunnelError('BLOCKED', `the other end switched to another protocol than "${protocol}"`);
}

/** What a hub answers to open a connection. */
export interface CarrierAnswer {
  kind: CarrierKind;
  /** Of the 101. */
  headers: Record<string, string>;
  /** The carrier over the socket once the 101 was written; `head` are bytes that came behind the request. */
  carry(socket: Duplex, head: Uint8Array): Duplex;
}

/** Takes either carrier, as the headers of the upgrade request ask. @throws TunnelError `PROTOCOL` for what is neither. */
export function answerCarrier(headers: Readonly<Headers>, options: CarrierOptions = {}): CarrierAnswer {
  const { protocol = TUNNEL_PROTOCOL, limits } = options;
  if (isWebSocketRequest(headers)) {
    const answer = answerWebSocket(headers, [protocol]);
    if ('refused' in answer) throw new TunnelError('PROTOCOL', answer.refused.message);
    if (answer.protocol !== protocol) throw new TunnelError('PROTOCOL', `the WebSocket is to speak "${protocol}"`);
    return {
      kind: 'websocket',
      headers: answer.headers,
      carry: (socket, head) => new WebSocketCarrier(putBack(socket, head), { role: 'server', limits }),
    };
  }
  const asked = [headers['upgrade'] ?? []].flat().join(', ');
  if (asked.toLowerCase() !== protocol.toLowerCase()) {
    throw new TunnelError(
      'PROTOCOL',
      `a tunnel speaks "${protocol}", or that over WebSocket; the upgrade asks for "${asked}"`,
    );
  }
  return { kind: 'upgrade', headers: { connection: 'Upgrade', upgrade: protocol }, carry: putBack };
}

function putBack(socket: Duplex, head: Uint8Array): Duplex {
  if (head.length > 0) socket.unshift(head);
  return socket;
}
