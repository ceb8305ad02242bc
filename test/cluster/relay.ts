import { rmSync } from 'node:fs';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** A port of 127.0.0.1 (or of `host`), or the path of a Unix socket, which network namespaces share. */
export type Endpoint = { host?: string; port: number } | { path: string };

/**
 * Passes connections on, byte by byte.
 *
 * Its line can be cut (R1): bytes stop in both directions, on what is open and on what is opened meanwhile, and nothing is closed,
 * as where a cable is pulled. When it is restored what waited arrives, ends included (R2), as TCP sends it again.
 */
export class Relay implements AsyncDisposable {
  readonly #to: Endpoint;
  readonly #server: Server;
  readonly #lines = new Set<Line>();
  #cut = false;

  private constructor(to: Endpoint) {
    this.#to = to;
    // An end that came is passed on, so that half-closed connections stay half-closed.
    this.#server = createServer({ allowHalfOpen: true, pauseOnConnect: true }, (socket) => this.#accept(socket));
  }

  static async listen(from: Endpoint, to: Endpoint): Promise<Relay> {
    const relay = new Relay(to);
    if ('path' in from) rmSync(from.path, { force: true });
    relay.#server.listen('path' in from ? from : { host: '127.0.0.1', ...from });
    await once(relay.#server, 'listening');
    return relay;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  cut(): void {
    this.#cut = true;
    for (const line of this.#lines) line.hold();
  }

  restore(): void {
    this.#cut = false;
    for (const line of this.#lines) line.flow();
  }

  /** Breaks every connection off, as a box does that forgets them; those that are opened from now on are passed on. */
  breakOff(): void {
    for (const line of this.#lines) line.destroy();
  }

  #accept(near: Socket): void {
    const far = connect({ ...this.#to, allowHalfOpen: true });
    const line = new Line(near, far, () => this.#lines.delete(line));
    this.#lines.add(line);
    if (!this.#cut) line.flow();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    for (const line of this.#lines) line.destroy();
    await closed;
  }
}

/** One connection that is passed on. */
class Line {
  readonly #pair: readonly [Socket, Socket];
  readonly #onGone: () => void;
  #flowing = false;

  constructor(near: Socket, far: Socket, onGone: () => void) {
    this.#pair = [near, far];
    this.#onGone = onGone;
    far.pause();
    this.#pass(near, far);
    this.#pass(far, near);
  }

  #pass(from: Socket, to: Socket): void {
    from.setNoDelay(true);
    from.on('data', (chunk) => {
      if (!to.write(chunk)) from.pause();
    });
    to.on('drain', () => this.#flowing && from.resume());
    from.on('end', () => to.end());
    // Of an end that broke the other hears when bytes flow; one that ended as it should has passed on its end.
    from.on('error', () => this.#flowing && this.destroy());
    from.on('close', () => this.#pair.every((socket) => socket.destroyed) && this.#onGone());
    from.pause();
  }

  hold(): void {
    this.#flowing = false;
    for (const socket of this.#pair) socket.pause();
  }

  flow(): void {
    this.#flowing = true;
    if (this.#pair.some((socket) => socket.errored !== null)) return this.destroy();
    for (const socket of this.#pair) socket.resume();
  }

  destroy(): void {
    for (const socket of this.#pair) socket.destroy();
  }
}
