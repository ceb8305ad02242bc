import type { ServerHttp2Session, ServerHttp2Stream } from 'node:http2';
import type { TokenUser } from '../contract/authenticator.ts';
import type { ApiRequest, ApiResponse } from '../contract/api-request.ts';
import type { AnswerFault, RequestFault } from './fault.ts';
import { checkFault } from './check-fault.ts';
import type { Faults } from './faults.ts';
import { FaultyBody, type Wire } from './faulty-body.ts';
import { InjectedFault } from './injected-fault.ts';
import { matchesRequest, type RequestMatch, seeRequest, type SeenRequest } from './seen-request.ts';
import type { TcpRelay } from './tcp-relay.ts';
import { Waiting } from './waiting.ts';

export interface FaultBoardOptions {
  relay: Pick<TcpRelay, 'freeze' | 'reset' | 'thaw'>;
  /** Users by their tokens. */
  tokens: ReadonlyMap<string, TokenUser>;
  /** Makes the server forget its history. */
  forget(): void;
}

/** After these a watch is as good as gone: the next fault is for the next watch. */
const ENDS_AT_ONCE: ReadonlySet<AnswerFault['kind']> = new Set(['end', 'error-event', 'reset']);

/** What is to go wrong, and what is there that it can befall. */
export class FaultBoard implements Faults {
  readonly #options: FaultBoardOptions;
  readonly #injected = new Set<MatchingFault>();
  readonly #struck = new Set<InjectedFault<AnswerFault>>();
  readonly #watches = new Map<FaultyBody, SeenRequest>();
  readonly #sessions = new Set<ServerHttp2Session>();
  readonly #seen: SeenRequest[] = [];
  /** Told of each request that comes, each answer that begins to leave, and the end. */
  readonly #waiting = new Waiting();
  #ended = false;

  constructor(options: FaultBoardOptions) {
    this.#options = options;
  }

  inject(
    fault: RequestFault,
    match: RequestMatch = {},
    { times = 1 }: { times?: number } = {},
  ): InjectedFault<RequestFault> {
    checkFault(fault);
    if (!(times >= 1)) throw new TypeError(`a fault happens at least once, not ${times} times`);
    const injected = new MatchingFault(fault, match, times);
    this.#injected.add(injected);
    return injected;
  }

  async strike(fault: AnswerFault, match: RequestMatch = {}): Promise<InjectedFault<AnswerFault>> {
    checkFault(fault);
    const matching = (): FaultyBody[] =>
      [...this.#watches].filter(([, request]) => matchesRequest(match, request)).map(([body]) => body);
    await this.#until(() => matching().length > 0);
    const struck = new InjectedFault(fault);
    this.#struck.add(struck);
    for (const body of matching()) {
      struck.happened();
      this.#befall(body, struck);
      if (ENDS_AT_ONCE.has(fault.kind)) this.#watches.delete(body);
    }
    return struck;
  }

  freeze(): Disposable & { lift(): void } {
    const { relay } = this.#options;
    relay.freeze();
    const lift = (): void => relay.thaw();
    return { lift, [Symbol.dispose]: lift };
  }

  resetConnections(): number {
    return this.#options.relay.reset();
  }

  goAway({ hangUp = false }: { hangUp?: boolean } = {}): number {
    const open = [...this.#sessions].filter((session) => !session.destroyed && !session.closed);
    for (const session of open) {
      session.close();
      // The frame leaves first.
      if (hangUp) setImmediate(() => session.destroy());
    }
    return open.length;
  }

  compact(): void {
    this.#options.forget();
  }

  requests(match: RequestMatch = {}): SeenRequest[] {
    return this.#seen.filter((request) => matchesRequest(match, request));
  }

  async requested(match: RequestMatch, count = 1): Promise<SeenRequest> {
    await this.#until(() => this.requests(match).length >= count);
    return this.requests(match)[count - 1]!;
  }

  /** Notes a request that came. */
  arrive(request: ApiRequest): SeenRequest {
    const seen = seeRequest(request, this.#options.tokens);
    this.#seen.push(seen);
    this.#waiting.tell();
    return seen;
  }

  /** The fault that befalls a request, which is counted. */
  take(request: SeenRequest): InjectedFault<RequestFault> | undefined {
    const injected = [...this.#injected].find((each) => each.isDue && matchesRequest(each.match, request));
    injected?.happened();
    return injected;
  }

  /** The answer to a request as it leaves: with a fault from its beginning, or in the reach of those that come later. */
  carry(
    response: ApiResponse,
    request: SeenRequest,
    injected?: { fault: AnswerFault; lifted: AbortSignal },
  ): ApiResponse {
    request.status = response.status;
    if (response.body === undefined) return response;
    const isWatch = request.verb === 'watch' && response.status === 200;
    const body: FaultyBody = new FaultyBody(response.body, {
      isWatch,
      onWire: (wire) => {
        this.#note(wire);
        if (isWatch) this.#watches.set(body, request);
        this.#waiting.tell();
      },
      reset: (wire) => this.#reset(wire),
      onEnd: () => void this.#watches.delete(body),
    });
    if (injected !== undefined) this.#befall(body, injected);
    return { ...response, body };
  }

  /** Lifts everything, and tells whoever waits that nothing comes any more. */
  end(): void {
    this.#ended = true;
    for (const fault of [...this.#injected, ...this.#struck]) fault.lift();
    this.#options.relay.thaw();
    this.#waiting.tell();
  }

  #befall(body: FaultyBody, { fault, lifted }: { fault: AnswerFault; lifted: AbortSignal }): void {
    body.strike(fault);
    const lift = (): void => body.lift(fault);
    lifted.addEventListener('abort', lift, { once: true });
    body.onEnd(() => lifted.removeEventListener('abort', lift));
  }

  #note(wire: Wire): void {
    const { session } = wire as Partial<ServerHttp2Stream>;
    if (session === undefined || this.#sessions.has(session as ServerHttp2Session)) return;
    this.#sessions.add(session as ServerHttp2Session);
    session.once('close', () => this.#sessions.delete(session as ServerHttp2Session));
  }

  #reset(wire: Wire): void {
    const socket = 'session' in wire ? wire.session?.socket : wire.socket;
    if (socket?.remotePort !== undefined) this.#options.relay.reset(socket.remotePort);
  }

  async #until(isSo: () => boolean): Promise<void> {
    await this.#waiting.until(() => {
      if (isSo()) return true;
      if (this.#ended) throw new Error('the test server was stopped, and what was waited for did not happen');
      return false;
    });
  }
}

class MatchingFault extends InjectedFault<RequestFault> {
  readonly match: RequestMatch;

  constructor(fault: RequestFault, match: RequestMatch, times: number) {
    super(fault, times);
    this.match = match;
  }
}
