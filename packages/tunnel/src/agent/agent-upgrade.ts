import type { Duplex } from 'node:stream';
import type { TransportRequest, TransportResponse, UpgradeResponse } from '@asterism/client';
import type { EndReason } from '../counters.ts';
import { TunnelError, type TunnelErrorReason } from '../tunnel-error.ts';
import { ByteMeter } from '../wire/byte-meter.ts';
import { failureHeaders } from '../wire/failure-headers.ts';
import { forwardedHeaders, type WireHeaders } from '../wire/headers.ts';
import { formatResponseHead, parseRequestHead, type RequestHead, readHead } from '../wire/http-head.ts';
import { type IdleProbe, startIdleProbe } from '../wire/idle-probe.ts';
import { takeOver } from '../wire/socket.ts';
import { splice } from '../wire/splice.ts';
import { askTargetToUpgrade } from './ask-target.ts';
import type { ServeContext } from './serve-context.ts';

/**
 * A connection that carries one upgrade, seen from the agent: idle → taken → spliced to the target (or answered otherwise) →
 * ended.
 */
export class AgentUpgrade {
  /** Why it ended idle; undefined when the hub took it, and the pool wants another. */
  readonly idleUntil: Promise<EndReason | undefined>;
  readonly ended: Promise<void>;
  readonly #socket: Duplex;
  readonly #context: ServeContext;
  readonly #probe: IdleProbe;
  readonly #meter: ByteMeter;
  #idle = true;
  #endedBy: EndReason | undefined;

  constructor(socket: Duplex, context: ServeContext) {
    const { limits, clock, counters } = context;
    this.#socket = socket;
    this.#context = context;
    this.#meter = new ByteMeter(socket, counters);
    this.#probe = startIdleProbe(socket, {
      intervalMs: limits.pingIntervalMs,
      timeoutMs: limits.pingTimeoutMs,
      clock,
      onDead: () => this.end('dead'),
    });
    socket.on('error', () => {
      this.#endedBy ??= 'reset';
    });
    this.ended = new Promise((resolve) => {
      socket.once('close', () => {
        this.#probe.stop();
        this.#meter.read();
        resolve();
      });
    });
    const head = readHead(socket, { maxBytes: limits.maxHeaderBytes, onBlankLine: () => this.#probe.alive() });
    this.idleUntil = head.then(
      (lines) => this.#begin(lines),
      () => {
        socket.destroy();
        return this.reason;
      },
    );
  }

  /** Why it ended. */
  get reason(): EndReason {
    return this.#endedBy ?? 'closed';
  }

  get idle(): boolean {
    return this.#idle;
  }

  end(reason: EndReason): void {
    this.#endedBy ??= reason;
    this.#socket.destroy();
  }

  #begin(lines: readonly string[]): undefined {
    const { counters } = this.#context;
    this.#idle = false;
    counters.streams += 1;
    counters.openStreams += 1;
    this.#forward(lines)
      .catch(() => this.#socket.destroy())
      .finally(() => {
        counters.openStreams -= 1;
      });
  }

  async #forward(lines: readonly string[]): Promise<void> {
    this.#probe.stopWatching();
    const abort = new AbortController();
    const stopWatching = whenLeft(this.#socket, () => abort.abort(new TunnelError('LOST', 'the caller left')));
    let response: UpgradeResponse | TransportResponse | undefined;
    try {
      response = await this.#ask(parseRequestHead(lines), abort.signal);
    } finally {
      stopWatching();
      this.#probe.stop();
    }
    if (!response) return;
    if ('socket' in response) await this.#splice(response);
    else await this.#answer(response);
  }

  /** The target's answer; undefined when there is none and the hub was told so. */
  async #ask(head: RequestHead, signal: AbortSignal): Promise<UpgradeResponse | TransportResponse | undefined> {
    const { method, path } = head;
    const headers = {
      ...forwardedHeaders(head.headers),
      connection: 'Upgrade',
      upgrade: head.headers['upgrade'] ?? '',
    };
    const request: TransportRequest = { method, path, headers, signal };
    const answer = await askTargetToUpgrade(request, this.#context);
    if (!('failed' in answer)) return answer;
    this.#fail(...answer.failed);
    return undefined;
  }

  async #splice({ headers, socket: upstream }: UpgradeResponse): Promise<void> {
    takeOver(upstream, { halfOpen: true });
    const upgrade = headers['upgrade'];
    const kept: WireHeaders = { ...forwardedHeaders(headers), connection: 'Upgrade' };
    if (upgrade !== undefined) kept['upgrade'] = upgrade;
    this.#socket.write(formatResponseHead({ status: 101, headers: kept }));
    await splice(this.#socket, upstream);
  }

  /** Passes on an answer that is no upgrade; its body ends with the connection. */
  async #answer({ status, headers, body }: TransportResponse): Promise<void> {
    const socket = this.#socket;
    socket.write(formatResponseHead({ status, headers: { ...forwardedHeaders(headers), connection: 'close' } }));
    body.on('error', () => socket.destroy());
    body.pipe(socket);
    await this.ended;
    body.destroy();
  }

  #fail(reason: TunnelErrorReason, message: string): void {
    const headers = { ...failureHeaders(reason, message), connection: 'close' };
    this.#socket.end(formatResponseHead({ status: 502, headers }));
    this.#socket.resume(); // To see its end.
  }
}

/** Notices that the other end left. A paused socket still sees its end as long as nothing is buffered. */
function whenLeft(socket: Duplex, onLeft: () => void): () => void {
  socket.on('end', onLeft).on('close', onLeft);
  return () => socket.off('end', onLeft).off('close', onLeft);
}
