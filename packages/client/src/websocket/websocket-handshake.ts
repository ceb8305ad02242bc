import { createHash, randomBytes } from 'node:crypto';
import { ClientError } from '../client-error.ts';
import type { Headers } from '../transport.ts';

const GUID = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';
const VERSION = '13';

/** What a server answers to a client's `Sec-WebSocket-Key` (RFC 6455, 4.2.2). */
export function acceptKey(key: string): string {
  return createHash('sha1').update(`${key}${GUID}`).digest('base64');
}

/** A client's half of a handshake. */
export interface WebSocketRequest {
  /** Of a GET (RFC 6455, 4.1). */
  headers: Record<string, string>;
  /** The subprotocol that was agreed on, '' for none. Throws a `ClientError` (`ERR_WEBSOCKET`) where a 101's headers agree to something else. */
  check(answer: Headers): string;
}

/** Asks for a WebSocket connection with one of `protocols`, the first the most. */
export function requestWebSocket(protocols: readonly string[] = []): WebSocketRequest {
  const key = randomBytes(16).toString('base64');
  return {
    headers: {
      connection: 'Upgrade',
      upgrade: 'websocket',
      'sec-websocket-version': VERSION,
      'sec-websocket-key': key,
      ...(protocols.length === 0 ? {} : { 'sec-websocket-protocol': protocols.join(', ') }),
    },
    check(answer) {
      if (textOf(answer['upgrade']).trim().toLowerCase() !== 'websocket') throw broken('it switched to something else');
      if (textOf(answer['sec-websocket-accept']).trim() !== acceptKey(key)) {
        throw broken('its Sec-WebSocket-Accept belongs to another request');
      }
      if (valuesOf(answer['sec-websocket-extensions']).length > 0) throw broken('it uses an extension unasked');
      const protocol = textOf(answer['sec-websocket-protocol']).trim();
      if (protocol !== '' && !protocols.includes(protocol))
        throw broken(`it chose the subprotocol "${protocol}" unasked`);
      return protocol;
    },
  };
}

/** A server's half of a handshake: the headers of its 101 and the subprotocol, '' for none; or another answer. */
export type WebSocketAnswer =
  | { protocol: string; headers: Record<string, string> }
  | { refused: { status: number; message: string; headers: Record<string, string> } };

/** Whether a request asks for a WebSocket connection. */
export function isWebSocketRequest(headers: Headers): boolean {
  const asks = valuesOf(headers['connection']).some((value) => value.toLowerCase() === 'upgrade');
  return asks && textOf(headers['upgrade']).trim().toLowerCase() === 'websocket';
}

/** Agrees to the first subprotocol of the request that is among `offered`; refuses, in a kubelet's words, if none is. */
export function answerWebSocket(headers: Headers, offered: readonly string[]): WebSocketAnswer {
  const key = textOf(headers['sec-websocket-key']);
  if (!/^[A-Za-z0-9+/]{22}==$/.test(key)) return refuse(400, 'missing or bad Sec-WebSocket-Key');
  if (textOf(headers['sec-websocket-version']).trim() !== VERSION) {
    return refuse(400, 'missing or bad WebSocket Version', { 'sec-websocket-version': VERSION });
  }
  const wanted = valuesOf(headers['sec-websocket-protocol']);
  const protocol = wanted.find((each) => offered.includes(each)) ?? '';
  if (wanted.length > 0 && protocol === '') {
    const lists = `[${wanted.join(' ')}]; supports [${offered.join(' ')}]`;
    return refuse(403, `requested protocol(s) are not supported: ${lists}`);
  }
  return {
    protocol,
    headers: {
      connection: 'Upgrade',
      upgrade: 'websocket',
      'sec-websocket-accept': acceptKey(key),
      ...(protocol === '' ? {} : { 'sec-websocket-protocol': protocol }),
    },
  };
}

function refuse(status: number, message: string, headers: Record<string, string> = {}): WebSocketAnswer {
  return { refused: { status, message, headers } };
}

function broken(why: string): ClientError {
  return new ClientError(`the server's answer is not a WebSocket handshake: ${why}`, { code: 'ERR_WEBSOCKET' });
}

function textOf(value: string | string[] | undefined): string {
  return [value ?? ''].flat().join(',');
}

function valuesOf(value: string | string[] | undefined): string[] {
  return textOf(value)
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== '');
}
