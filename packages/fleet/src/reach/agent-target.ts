import {
  ClientError,
  createTransport,
  type Transport,
  type TransportRequest,
  type TransportResponse,
  type UpgradeResponse,
} from '@asterism/client';
import { isDestinationPath, readDestinationCall } from './destination-call.ts';
import { readDestinations } from './destinations.ts';

/** Where calls may go beside the member's API server. */
export interface Destinations {
  /** `https://host:port` or `http://host:port`. Default: none. */
  origins?: readonly string[] | undefined;
  /** PEM of the authorities of those that are `https`. Default: those that Node.js knows. */
  caData?: string | undefined;
}

/**
 * Where an agent's calls go: to its own API server, or to a destination that was listed. It dials what stands in the list, never what a
 * call says; without a credential, and past every proxy. Redirects are answers like any other.
 */
export class AgentTarget implements Transport {
  readonly #member: Transport;
  readonly #destinations: ReadonlyMap<string, Transport>;

  /** Throws a `ClientError` (`ERR_SERVER_URL`) for what is no destination. The member's transport is not closed. */
  constructor(member: Transport, { origins = [], caData }: Destinations = {}) {
    this.#member = member;
    const trust = caData === undefined ? {} : { caData };
    this.#destinations = new Map(
      readDestinations(origins).map((server) => [
        server,
        createTransport({ server, ...trust, credential: { kind: 'none' } }),
      ]),
    );
  }

  /** As `readOrigin` writes them. */
  get destinations(): readonly string[] {
    return [...this.#destinations.keys()];
  }

  get server(): string {
    return this.#member.server ?? '';
  }

  async request(request: TransportRequest): Promise<TransportResponse> {
    const { transport, path } = this.#wayOf(request);
    return await transport.request({ ...request, path });
  }

  async upgrade(request: TransportRequest): Promise<UpgradeResponse | TransportResponse> {
    const { transport, path } = this.#wayOf(request);
    return await transport.upgrade({ ...request, path });
  }

  async close(): Promise<void> {
    await Promise.all([...this.#destinations.values()].map((transport) => transport.close()));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #wayOf({ method, path }: TransportRequest): { transport: Transport; path: string } {
    if (!isDestinationPath(path)) return { transport: this.#member, path };
    const call = readDestinationCall(method, path);
    const transport = 'fault' in call ? undefined : this.#destinations.get(call.destination);
    if ('fault' in call || !transport) {
      throw new ClientError('a call that was not admitted asks for another server', { code: 'ERR_SERVER_URL' });
    }
    return { transport, path: call.path + call.query };
  }
}
