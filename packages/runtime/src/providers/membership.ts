import { isDeepStrictEqual } from 'node:util';
import type { Client, Clock, Connection, HttpTransport, Transport } from '@asterism/client';
import type { Engagement } from '../cluster/cluster.ts';
import type { Logger } from '../log/logger.ts';
import { isOtherCluster } from './is-other-cluster.ts';

export interface MembershipOptions {
  engage: (name: string, client: Client) => Engagement;
  signal: AbortSignal;
  logger: Logger;
  clock: Clock;
  transportOf: (connection: Connection) => HttpTransport;
  clientOf: (transport: Transport) => Client;
  /** Nobody offers the cluster any more, and it has left. */
  onEnd: () => void;
}

interface Stay {
  connection: Connection;
  transport: HttpTransport;
  engagement: Engagement;
}

/** When a name that the manager would not take, as another provider has it, is tried again. */
const RETRY_MS = 30_000;

/**
 * One name and the cluster that bears it. It is `absent`, `engaged` or `leaving`; while it leaves, which takes as long as what
 * works on it, offers are kept and nothing is engaged: never are there two of a name.
 */
export class Membership {
  readonly #name: string;
  readonly #options: MembershipOptions;
  /** By source; the first one counts. */
  readonly #offers = new Map<string, Connection>();
  #stay: Stay | undefined;
  #leaving = false;
  #cancelRetry: (() => void) | undefined;
  #refusal: string | undefined;

  constructor(name: string, options: MembershipOptions) {
    this.#name = name;
    this.#options = options;
  }

  offer(source: string, connection: Connection): void {
    const [first = source] = this.#offers.keys();
    if (first !== source && !this.#offers.has(source)) {
      const fields = { cluster: this.#name, source, first };
      this.#options.logger.warn(
        fields,
        `${source} offers cluster "${this.#name}" too, which ${first} has: it waits until that goes`,
      );
    }
    this.#offers.set(source, connection);
    this.#settle();
  }

  withdraw(source: string): void {
    this.#offers.delete(source);
    this.#settle();
  }

  #settle(): void {
    if (this.#leaving || this.#options.signal.aborted) return;
    const [wanted] = this.#offers.values();
    const stay = this.#stay;
    if (stay && (!wanted || isOtherCluster(stay.connection, wanted))) void this.#leave(stay);
    else if (stay && wanted) this.#renew(stay, wanted);
    else if (wanted) this.#enter(wanted);
    else {
      this.#cancelRetry?.();
      this.#options.onEnd();
    }
  }

  #enter(connection: Connection): void {
    const { engage, transportOf, clientOf } = this.#options;
    this.#cancelRetry?.();
    let transport: HttpTransport | undefined;
    try {
      transport = transportOf(connection);
      const engagement = engage(this.#name, clientOf(transport));
      this.#stay = { connection, transport, engagement };
      this.#refusal = undefined;
      this.#closeWithManager(engagement.cluster.signal, transport);
    } catch (error) {
      void transport?.close();
      this.#refused(error);
    }
  }

  #refused(error: unknown): void {
    const { signal, clock, logger } = this.#options;
    if (signal.aborted) return;
    const message = error instanceof Error ? error.message : String(error);
    if (message !== this.#refusal) logger.warn({ cluster: this.#name }, `the manager does not take it: ${message}`);
    this.#refusal = message;
    this.#cancelRetry = clock.setTimer(() => this.#settle(), RETRY_MS, { background: true });
  }

  #renew(stay: Stay, connection: Connection): void {
    if (isDeepStrictEqual(stay.connection, connection)) return;
    stay.connection = connection;
    stay.transport.replaceConnection(connection); // What runs on the old credentials may end.
    stay.engagement.replaceClient(this.#options.clientOf(stay.transport)); // Watches go on with the new ones.
    this.#options.logger.info({ cluster: this.#name }, 'the credentials of the cluster were replaced');
  }

  async #leave({ engagement, transport }: Stay): Promise<void> {
    this.#leaving = true;
    this.#stay = undefined;
    try {
      await engagement.disengage();
    } catch (error) {
      this.#options.logger.error({ err: error, cluster: this.#name }, 'the cluster did not leave in order');
    }
    await transport.close();
    this.#leaving = false;
    this.#settle();
  }

  /** When the manager stops: what worked on the cluster has ended then, and its watches are told to in that same turn. */
  #closeWithManager(ended: AbortSignal, transport: HttpTransport): void {
    const close = (): void => {
      if (!this.#leaving) queueMicrotask(() => void transport.close());
    };
    ended.addEventListener('abort', close, { once: true });
  }
}
