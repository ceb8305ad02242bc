import {
  type Client,
  ClientError,
  type Clock,
  type Connection,
  createClient,
  createTransport,
  ExecCredentialCache,
  systemClock,
} from '@asterism/client';
import type { Engagement } from '../cluster/cluster.ts';
import type { Logger } from '../log/logger.ts';
import { LOCAL_CLUSTER } from '../controller/reconcile.ts';
import { Membership, type MembershipOptions } from './membership.ts';
import type { ProviderOptions } from './provider-options.ts';

/** What a source says: a cluster's name, and how to reach it. */
export interface Offer {
  name: string;
  connection: Connection;
}

interface Source {
  /** The newest reading: one that began before it and ends after it counts for nothing. */
  reading: object | undefined;
  /** The cluster it offers. */
  name: string | undefined;
  problem: string | undefined;
}

/**
 * Brings the clusters that a manager has into line with what a provider's sources (contexts, files, Secrets) say.
 *
 * R1 No source and no cluster waits for another: each is read, engaged and disengaged on its own.
 * R2 A source that cannot be read, or says what makes no sense, changes nothing; it is reported once for each reason.
 * R3 New credentials are given to the cluster that is there; another address is another cluster ({@link isOtherCluster}).
 * R4 Where several sources offer one name, the first has it; the next takes over when that goes.
 * R5 A cluster that has left has nothing open any more.
 */
export class ClusterRoster {
  readonly logger: Logger;
  readonly clock: Clock;
  readonly #signal: AbortSignal;
  readonly #membershipOptions: Omit<MembershipOptions, 'onEnd'>;
  readonly #sources = new Map<string, Source>();
  readonly #memberships = new Map<string, Membership>();
  #turns = Promise.resolve();

  /** When `signal` aborts the roster is left as it is: the manager ends its clusters, in its own order. */
  constructor(
    { name, ...options }: ProviderOptions & { name: string },
    engage: (name: string, client: Client) => Engagement,
    signal: AbortSignal,
  ) {
    const { logger, clock = systemClock, transport, userAgent, fieldManager } = options;
    const transportOptions = { clock, execCredentials: new ExecCredentialCache(clock), ...transport };
    this.logger = logger.child({ provider: name });
    this.clock = clock;
    this.#signal = signal;
    this.#membershipOptions = {
      engage,
      signal,
      clock,
      logger: this.logger,
      transportOf: (connection) => createTransport(connection, transportOptions),
      clientOf: (to) => createClient({ transport: to, userAgent, fieldManager, clock }),
    };
  }

  /**
   * Resolves in a turn of the event loop that is the caller's own: five hundred kubeconfigs are parsed, and their certificates
   * looked at, without holding up what else goes on. It waits for no reading to end.
   */
  turn(): Promise<void> {
    this.#turns = this.#turns.then(() => new Promise((resolve) => setImmediate(resolve)));
    return this.#turns;
  }

  /**
   * Takes what `read` gives. Resolves, when that is done, with whether it could be used; never rejects. `source` is what
   * messages call it.
   */
  async update(source: string, read: () => Promise<Offer>): Promise<boolean> {
    const entry = this.#source(source);
    const reading = {};
    entry.reading = reading;
    await this.turn();
    let offer: Offer;
    try {
      offer = await read();
      if (offer.name === LOCAL_CLUSTER) {
        throw new ClientError('it gives the cluster no name', { code: 'ERR_CLUSTER_NAME' });
      }
    } catch (error) {
      if (entry.reading === reading) this.#report(source, entry, error);
      return false;
    }
    if (entry.reading === reading && !this.#signal.aborted) this.#accept(source, entry, offer);
    return true;
  }

  /** The source is there and cannot be read: what it said last holds on. */
  fail(source: string, error: unknown): void {
    const entry = this.#source(source);
    entry.reading = undefined;
    this.#report(source, entry, error);
  }

  /** The source is not there, though it should be: its cluster goes. */
  lose(source: string, error: unknown): void {
    const entry = this.#source(source);
    this.#take(source, entry);
    this.#report(source, entry, error);
  }

  /** The source is gone, and with it its cluster. */
  withdraw(source: string): void {
    const entry = this.#sources.get(source);
    if (!entry) return;
    this.#sources.delete(source);
    this.#take(source, entry);
  }

  #source(source: string): Source {
    const present = this.#sources.get(source);
    if (present) return present;
    const entry: Source = { reading: undefined, name: undefined, problem: undefined };
    this.#sources.set(source, entry);
    return entry;
  }

  #take(source: string, entry: Source): void {
    const { name } = entry;
    Object.assign(entry, { reading: undefined, name: undefined });
    if (name !== undefined) this.#membership(name).withdraw(source);
  }

  #accept(source: string, entry: Source, { name, connection }: Offer): void {
    if (entry.problem !== undefined) {
      entry.problem = undefined;
      this.logger.info({ source, cluster: name }, `${source} can be used now`);
    }
    const before = entry.name;
    entry.name = name;
    if (before !== undefined && before !== name) this.#membership(before).withdraw(source);
    this.#membership(name).offer(source, connection);
  }

  #report(source: string, entry: Source, error: unknown): void {
    if (this.#signal.aborted) return;
    const problem = reasonOf(error);
    if (entry.problem === problem) return;
    entry.problem = problem;
    const { name } = entry;
    const kept = name === undefined ? '' : `; cluster "${name}" stays as it was`;
    this.logger.warn(
      { source, ...(name === undefined ? {} : { cluster: name }), reason: problem },
      `${source} cannot be used: ${problem}${kept}`,
    );
  }

  #membership(name: string): Membership {
    const present = this.#memberships.get(name);
    if (present) return present;
    const onEnd = (): boolean => this.#memberships.delete(name);
    const membership = new Membership(name, { ...this.#membershipOptions, onEnd });
    this.#memberships.set(name, membership);
    return membership;
  }
}

/** What is wrong, in words that quote no content. */
export function reasonOf(error: unknown): string {
  if (error instanceof ClientError) return error.message;
  const { code, name } = error as NodeJS.ErrnoException;
  return code ?? name ?? 'it fails';
}
