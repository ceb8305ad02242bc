import type { Logger } from '@asterism/runtime';

/** What a hub has while it runs, as far as its life is concerned. */
export interface LivingParts {
  /** Resolves when the controllers were stopped, rejects when one of them failed. */
  controllers: Promise<void>;
}

export interface HubLifeOptions<Running extends LivingParts> {
  /** Starts part after part; what it puts on `parts` is ended in the opposite order. `signal` aborts with a stop. */
  begin: (parts: AsyncDisposableStack, signal: AbortSignal) => Promise<Running>;
  /** What a failure of the start means to whoever started the hub. */
  explain: (error: unknown) => unknown;
  logger: Logger;
}

/**
 * How a hub lives, whatever it is made of: it starts once; it ends when it is told to, or when a part of it fails; and then
 * nothing is left open.
 */
export class HubLife<Running extends LivingParts> {
  readonly #options: HubLifeOptions<Running>;
  readonly #parts = new AsyncDisposableStack();
  readonly #stopping = new AbortController();
  readonly #ended = Promise.withResolvers<void>();
  #starting: Promise<Running> | undefined;
  #running: Running | undefined;

  constructor(options: HubLifeOptions<Running>) {
    this.#options = options;
    this.#ended.promise.catch(() => {}); // Whoever does not look at `done` need not.
  }

  async start(): Promise<void> {
    const { begin, explain, logger } = this.#options;
    this.#starting ??= begin(this.#parts, this.#stopping.signal);
    try {
      this.#running = await this.#starting;
    } catch (error) {
      await this.#parts.disposeAsync();
      throw explain(error);
    }
    this.#running.controllers.catch(async (error: unknown) => {
      logger.error({ err: error }, 'a part of the hub failed: it stops');
      await this.#parts.disposeAsync();
      this.#ended.reject(error);
    });
  }

  async stop(): Promise<void> {
    this.#stopping.abort(new Error('the hub was stopped'));
    await this.#starting?.catch(() => {});
    await this.#parts.disposeAsync();
    this.#ended.resolve();
  }

  /** Rejects when a part of a started hub fails, after the others were stopped; resolves after a stop. */
  get done(): Promise<void> {
    return this.#ended.promise;
  }

  /** Throws before the start. */
  get running(): Running {
    if (!this.#running) throw new Error('the hub has not been started');
    return this.#running;
  }
}
