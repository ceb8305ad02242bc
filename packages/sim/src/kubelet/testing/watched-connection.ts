import type { Duplex } from 'node:stream';

/** A connection of a test's client, on what comes of which a test can wait. */
export abstract class WatchedConnection {
  readonly socket: Duplex;
  closed = false;
  #changed = Promise.withResolvers<void>();

  constructor(socket: Duplex) {
    this.socket = socket;
    const onEnd = (): void => {
      this.closed = true;
      this.changed();
    };
    socket
      .on('close', onEnd)
      .on('end', onEnd)
      .on('error', () => {});
  }

  /** Resolves when it holds, looked at after each change. */
  async until(holds: () => boolean): Promise<void> {
    while (!holds()) {
      if (this.closed) throw new Error('the connection ended first');
      await this.#changed.promise;
    }
  }

  /** Something has come. */
  protected changed(): void {
    this.#changed.resolve();
    this.#changed = Promise.withResolvers<void>();
  }
}
