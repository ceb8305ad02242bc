import { createHash } from 'node:crypto';
import type { Headers } from '@asterism/apiserver';

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
const WEBSOCKET_GUID = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';

/** Throws {@link UpgradeRefused} in the words of a kubelet. */
export function negotiateUpgrade(headers: Headers, offered: Offered): Negotiated {
  const connection = values(headers['connection']).map((value) => value.toLowerCase());
  const upgrade = text(headers['upgrade']).trim().toLowerCase();
  if (connection.includes('upgrade') && upgrade === 'websocket') return negotiateWebSocket(headers, offered.websocket);
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
  const key = text(headers['sec-websocket-key']);
  if (!/^[A-Za-z0-9+/]{22}==$/.test(key)) throw new UpgradeRefused(400, 'missing or bad Sec-WebSocket-Key');
  if (text(headers['sec-websocket-version']).trim() !== '13') {
    throw new UpgradeRefused(400, 'missing or bad WebSocket Version', { 'sec-websocket-version': '13' });
  }
  const wanted = values(headers['sec-websocket-protocol']);
  const protocol = wanted.find((each) => offered.includes(each)) ?? '';
  if (wanted.length > 0 && protocol === '') {
    const message = `requested protocol(s) are not supported: [${wanted.join(' ')}]; supports [${offered.join(' ')}]`;
    throw new UpgradeRefused(403, message);
  }
  return {
    transport: 'websocket',
    protocol,
    headers: {
      connection: 'Upgrade',
      upgrade: 'websocket',
      'sec-websocket-accept': createHash('sha1').update(`${key}${WEBSOCKET_GUID}`).digest('base64'),
      ...(protocol === '' ? {} : { 'sec-websocket-protocol': protocol }),
    },
  };
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
