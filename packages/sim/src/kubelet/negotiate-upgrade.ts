import type { Headers } from '@asterism/apiserver';
import { answerWebSocket, isWebSocketRequest } from '@asterism/client';

/** What both ends agreed on, and what the 101 says. */
export interface Negotiated {
  transport: 'spdy' | 'websocket';
  /** '' where the client named none. */
  protocol: string;
  headers: Record<string, string>;
}

/** An Upgrade that is answered otherwise than by 101. */
export class UpgradeRefused extends Error {
  override readonly name = 'UpgradeRefused';
  readonly status: number;
  readonly headers: Record<string, string>;

  constructor(status: number, message: string, headers: Record<string, string> = {}) {
    super(message);
    this.status = status;
    this.headers = headers;
  }
}

export interface Offered {
  /** Values of `X-Stream-Protocol-Version` that may be agreed on over SPDY. */
  spdy: readonly string[];
  /** Subprotocols that may be agreed on over WebSocket. */
  websocket: readonly string[];
}

const SPDY = 'SPDY/3.1';

/** Throws {@link UpgradeRefused} in the words of a kubelet. */
export function negotiateUpgrade(headers: Headers, offered: Offered): Negotiated {
  const connection = values(headers['connection']).map((value) => value.toLowerCase());
  const upgrade = text(headers['upgrade']).trim().toLowerCase();
  if (isWebSocketRequest(headers)) return negotiateWebSocket(headers, offered.websocket);
  if (connection.includes('upgrade') && upgrade === SPDY.toLowerCase()) return negotiateSpdy(headers, offered.spdy);
  throw new UpgradeRefused(400, `unable to upgrade: missing upgrade headers in request: ${describe(headers)}`);
}

function negotiateSpdy(headers: Headers, offered: readonly string[]): Negotiated {
  const wanted = values(headers['x-stream-protocol-version']);
  if (wanted.length === 0) throw new UpgradeRefused(400, 'unable to upgrade: X-Stream-Protocol-Version is required');
  const protocol = wanted.find((each) => offered.includes(each));
  if (protocol === undefined) {
    const message = `unable to upgrade: unable to negotiate protocol: client supports [${wanted.join(' ')}], server accepts [${offered.join(' ')}]`;
    throw new UpgradeRefused(403, message, { 'x-accepted-stream-protocol-versions': offered.join(', ') });
  }
  return {
    transport: 'spdy',
    protocol,
    headers: { connection: 'Upgrade', upgrade: SPDY, 'x-stream-protocol-version': protocol },
  };
}

function negotiateWebSocket(headers: Headers, offered: readonly string[]): Negotiated {
  const answer = answerWebSocket(headers, offered);
  if (!('refused' in answer)) return { transport: 'websocket', ...answer };
  const { status, message, headers: more } = answer.refused;
  throw new UpgradeRefused(status, message, more);
}

/** Only these: the others may hold what is nobody's business. */
function describe(headers: Headers): string {
  return `connection "${text(headers['connection'])}", upgrade "${text(headers['upgrade'])}"`;
}

function text(value: string | string[] | undefined): string {
  return [value ?? ''].flat().join(',');
}

function values(value: string | string[] | undefined): string[] {
  return text(value)
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== '');
}
