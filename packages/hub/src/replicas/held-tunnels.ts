import { duplexPair, Readable } from 'node:stream';
import {
  ClientError,
  type Transport,
  type TransportRequest,
  type TransportResponse,
  type UpgradeResponse,
} from '@asterism/client';
import {
  type ConnectionOffer,
  offerHeaders,
  parseOffer,
  TUNNEL_PROTOCOL,
  type TunnelChange,
  TunnelError,
  type TunnelHub,
} from '@asterism/tunnel';

/** Which tunnels a replica holds: a line of JSON for each {@link TunnelChange}, the first of them for those held already. */
export const HELD_PATH = '/held';

const TUNNELS_PATH = '/tunnels/';

const ATTACH_PATH = '/attach/';

/** Where, at the replica that holds it, stands the target of a tunnel. `path` is a request's, with query. */
export function heldPath(name: string, path: string): string {
  return `${TUNNELS_PATH}${encodeURIComponent(name)}${path}`;
}

/** Where a replica takes a connection of an agent that came to another one, by an upgrade; and drains it, by DELETE. */
export function attachPath(name: string, { kind, instance, slot }: ConnectionOffer): string {
  return ATTACH_PATH + [name, kind, instance, slot].map(encodeURIComponent).join('/');
}

/**
 * What a replica lets the others do: know which tunnels it holds, call through them, and bring it connections of theirs. Never passes on to a third, so that no
 * call goes in circles. Who asks, what for and whether they may was decided where the call came in.
 */
export class HeldTunnels implements Transport {
  readonly #tunnels: TunnelHub;

  constructor(tunnels: TunnelHub) {
    this.#tunnels = tunnels;
  }

  async request(request: TransportRequest): Promise<TransportResponse> {
    if (request.path === HELD_PATH) {
      return { status: 200, headers: { 'content-type': 'application/json' }, body: this.#held() };
    }
    if (request.path.startsWith(ATTACH_PATH)) return this.#drain(request.path);
    const { name, path } = parseHeldPath(request.path);
    return await this.#tunnels.transport(name).request({ ...request, path });
  }

  async upgrade(request: TransportRequest): Promise<UpgradeResponse | TransportResponse> {
    if (request.path.startsWith(ATTACH_PATH)) return this.#attach(request.path);
    const { name, path } = parseHeldPath(request.path);
    return await this.#tunnels.transport(name).upgrade({ ...request, path });
  }

  async close(): Promise<void> {}

  async [Symbol.asyncDispose](): Promise<void> {}

  /** One on its way here while the tunnel was cut must not begin another: who may is asked where it came in, before that. */
  #attach(path: string): UpgradeResponse {
    const { name, offer } = parseAttachPath(path);
    if (!this.#tunnels.connected(name)) {
      throw new TunnelError('NOT_CONNECTED', `the tunnel of "${name}" does not stand at this replica any more`);
    }
    const [own, theirs] = duplexPair();
    this.#tunnels.accept(name, own, offer);
    return { status: 101, headers: { upgrade: TUNNEL_PROTOCOL }, socket: theirs };
  }

  /** It ends with the last call that runs on it: whoever brought it is about to stop. */
  #drain(path: string): TransportResponse {
    const { name, offer } = parseAttachPath(path);
    this.#tunnels.drainConnection(name, offer);
    return { status: 200, headers: {}, body: Readable.from([]) };
  }

  #held(): Readable {
    const tell = ({ name, connected }: TunnelChange): unknown => body.push(`${JSON.stringify({ name, connected })}\n`);
    const body = new Readable({ read() {} });
    const unsubscribe = this.#tunnels.onChange(tell);
    body.once('close', unsubscribe);
    for (const name of this.#tunnels.names()) tell({ name, connected: true });
    return body;
  }
}

function parseAttachPath(path: string): { name: string; offer: ConnectionOffer } {
  const [name = '', kind, instance = '', slot] = path.slice(ATTACH_PATH.length).split('/').map(decodeURIComponent);
  const headers = offerHeaders({ kind: kind as ConnectionOffer['kind'], instance, slot: Number(slot) });
  return { name, offer: parseOffer(headers) };
}

function parseHeldPath(path: string): { name: string; path: string } {
  const end = path.indexOf('/', TUNNELS_PATH.length);
  if (!path.startsWith(TUNNELS_PATH) || end < 0) {
    throw new ClientError('a replica asked for what no replica has', { code: 'ERR_HELD_PATH' });
  }
  return { name: decodeURIComponent(path.slice(TUNNELS_PATH.length, end)), path: path.slice(end) };
}
