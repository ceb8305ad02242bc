import type { Headers, Transport, TransportRequest, TransportResponse, UpgradeResponse } from '@asterism/client';
import { isTunnelError, TunnelError } from '../tunnel-error.ts';
import { forwardedHeaders, headerValue } from '../wire/headers.ts';
import { formatRequestHead } from '../wire/http-head.ts';
import type { AgentConnections } from './agent-connections.ts';
import type { RunningRequest } from './delivery.ts';

/** Requests whose repetition does no harm (RFC 9110 9.2.1). */
const SAFE_METHODS: readonly string[] = ['GET', 'HEAD', 'OPTIONS'];

/** How often a request is sent again when its connection is lost before the answer: a line that breaks takes all of an agent's, one by one. */
const MAX_RETRIES = 10;

/** A {@link Transport} to one agent's target, over whatever connections that agent has when a request is made. */
export class TunnelTransport implements Transport {
  readonly server: string;
  readonly #find: () => AgentConnections | undefined;
  readonly #running = new Set<RunningRequest>();
  #closed = false;

  constructor(name: string, find: () => AgentConnections | undefined) {
    this.server = name;
    this.#find = find;
  }

  /**
   * A request that the agent has not seen is sent again on another connection, and so is a safe one that was lost before its
   * answer came; what cannot be sent twice is not. An agent that was lost a moment ago is waited for (`reconnectWaitMs`).
   */
  async request(request: TransportRequest): Promise<TransportResponse> {
    for (let tries = 0; ; tries += 1) {
      request.signal?.throwIfAborted();
      if (this.#find()?.connected !== true) await this.#comeBack(request.signal);
      const session = this.#agent().pick(request.long ?? false);
      request.admit?.();
      const delivery = await session.send(request, this.#running);
      if ('response' in delivery) return delivery.response;
      const { failed, unprocessed } = delivery;
      const again = isTunnelError(failed, 'LOST') && (unprocessed || SAFE_METHODS.includes(request.method));
      if (!again || !isReplayable(request) || tries >= MAX_RETRIES || this.#closed) throw failed;
    }
  }

  async upgrade(request: TransportRequest): Promise<UpgradeResponse | TransportResponse> {
    const head = upgradeHead(request, this.server);
    await this.#comeBack(request.signal);
    const connection = await this.#agent().reserveUpgrade(request.signal);
    request.admit?.();
    return await connection.exchange(head, request.signal);
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const running of this.#running) running.fail(this.#closedError());
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #comeBack(signal: AbortSignal | undefined): Promise<void> {
    const agent = this.#find();
    if (!agent || agent.connected || this.#closed) return;
    await agent.comeBack(signal);
    signal?.throwIfAborted();
  }

  #agent(): AgentConnections {
    if (this.#closed) throw this.#closedError();
    const agent = this.#find();
    if (agent?.connected) return agent;
    throw new TunnelError(
      'NOT_CONNECTED',
      `tunnel to "${this.server}": no agent is connected; see that its agent runs and can reach this hub`,
    );
  }

  #closedError(): TunnelError {
    return new TunnelError('CLOSED', `tunnel to "${this.server}": this transport was closed`);
  }
}

function isReplayable({ body }: TransportRequest): boolean {
  return body === undefined || typeof body === 'string' || body instanceof Uint8Array;
}

function upgradeHead(request: TransportRequest, name: string): string {
  const { method, path, body } = request;
  const headers: Headers = request.headers ?? {};
  const upgrade = headerValue(headers, 'upgrade');
  if (upgrade === undefined || body !== undefined) {
    throw new TunnelError('PROTOCOL', `tunnel to "${name}": an upgrade has an Upgrade header and no body`);
  }
  return formatRequestHead({
    method,
    path,
    headers: { host: 'tunnel', ...forwardedHeaders(headers), connection: 'Upgrade', upgrade },
  });
}
