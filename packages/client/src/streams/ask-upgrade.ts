import type { Duplex } from 'node:stream';
import { isStatusError } from '@asterism/machinery';
import type { Client } from '../client.ts';
import { responseError } from '../response-error.ts';
import type { Headers } from '../transport.ts';
import { requestWebSocket } from '../websocket/websocket-handshake.ts';

/** What a server agreed to. */
export interface Upgraded {
  socket: Duplex;
  protocol: string;
}

/** One way to ask for an upgrade. */
export interface UpgradeAttempt {
  transport: 'websocket' | 'spdy';
  /** The first is what we would like most. */
  protocols: readonly string[];
}

export interface UpgradeCall {
  /** With its query. */
  path: string;
  signal: AbortSignal | undefined;
}

/**
 * Asks in one way. Resolves with what was agreed on, or with why not.
 *
 * Rejects where no other way would help: no answer at all, who we are is not known, what we ask for is not there. A mere `Forbidden`
 * is no such thing: WebSocket begins with a GET, SPDY with a POST, and RBAC may allow one of them.
 */
export async function askUpgrade(
  client: Client,
  call: UpgradeCall,
  attempt: UpgradeAttempt,
): Promise<Upgraded | { refusal: Error }> {
  const { method, headers, check } = attempt.transport === 'spdy' ? spdy(attempt) : webSocket(attempt);
  const request = { method, path: call.path, headers, signal: call.signal };
  const response = await client.upgrade(request);
  if (!('socket' in response)) {
    const refusal = await responseError(request, response);
    if (isStatusError(refusal, 'Unauthorized') || (isStatusError(refusal, 'NotFound') && isOfApi(refusal)))
      throw refusal;
    return { refusal };
  }
  const { socket } = response;
  try {
    return { socket, protocol: check(response.headers) };
  } catch (error) {
    socket.on('error', () => {}).destroy();
    return { refusal: error as Error };
  }
}

/** Whether an API server spoke, and not something before it. */
export function isOfApi(error: Error): boolean {
  return (
    isStatusError(error) &&
    !(error.status.details?.causes ?? []).some(({ reason }) => reason === 'UnexpectedServerResponse')
  );
}

interface Question {
  method: string;
  headers: Headers;
  /** The protocol of a 101; throws where it is none of ours. */
  check(answer: Headers): string;
}

function webSocket({ protocols }: UpgradeAttempt): Question {
  const { headers, check } = requestWebSocket(protocols);
  return { method: 'GET', headers, check: (answer) => agreed(check(answer), protocols) };
}

function spdy({ protocols }: UpgradeAttempt): Question {
  const headers = { connection: 'Upgrade', upgrade: 'SPDY/3.1', 'x-stream-protocol-version': [...protocols] };
  return {
    method: 'POST',
    headers,
    check: (answer) => agreed(String(answer['x-stream-protocol-version'] ?? ''), protocols),
  };
}

function agreed(protocol: string, protocols: readonly string[]): string {
  if (protocols.includes(protocol)) return protocol;
  throw new Error(`the server switched to the protocol "${protocol}" instead of ${protocols.join(' or ')}`);
}
