import type { AnswerFault, Injected, RequestFault } from './fault.ts';
import type { RequestMatch, SeenRequest } from './seen-request.ts';

/**
 * Has a server misbehave towards whoever is connected to it. Calls within the process (`TestServer.inside`) are never hit, so a
 * test can go on changing objects meanwhile.
 *
 * @example {@link startTestServer}
 */
export interface Faults {
  /**
   * Befalls the next requests that match, `times` of them (default 1; `Infinity`: until it is lifted). Of several faults that
   * match a request, the one that was injected first and is not used up counts. Throws a `TypeError` where the fault makes no sense.
   */
  inject(fault: RequestFault, match?: RequestMatch, options?: { times?: number }): Injected;
  /**
   * Befalls every watch that is open and matches; where none is, waits for the next that opens. `hits` says how many those were. A
   * watch has one such fault at a time: the last. Rejects as {@link inject} throws, and when the server stops first.
   */
  strike(fault: AnswerFault, match?: RequestMatch): Promise<Injected>;
  /**
   * Nothing passes any more, in either direction, and nothing is closed: a process that was stopped, a network that drops everything.
   * Connections are taken and get no further. Lifted, it goes on with what was sent meanwhile.
   */
  freeze(): Disposable & { lift(): void };
  /** Resets every TCP connection. Returns how many those were. */
  resetConnections(): number;
  /**
   * Sends a GOAWAY on every HTTP/2 connection that has had an answer: what runs on it may end, new requests need a new one, as when
   * kube-apiserver spreads its clients (`--goaway-chance`). With `hangUp` the connections end at once, as when it stops. Returns how
   * many those were.
   */
  goAway(options?: { hangUp?: boolean }): number;
  /** Forgets all history, as when etcd is compacted: who resumes a watch or a list from before a later change gets 410. */
  compact(): void;
  /** What came over the wire so far and matches, oldest first. */
  requests(match?: RequestMatch): SeenRequest[];
  /**
   * Resolves when `count` (default 1) such requests have come, also those that came before, with the last of them. With a `status`
   * to match: when they were answered so, and a watch is open.
   */
  requested(match: RequestMatch, count?: number): Promise<SeenRequest>;
}
