import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';

/** The two sides of one connection. */
interface Pair {
  near: Socket;
  far: Socket;
}

/**
 * A way to a server on which connections can be frozen and reset, beneath TLS: what nobody but the network, or a process that was
 * stopped, does to a server.
 */
export class TcpRelay {
  readonly #server: Server;
  readonly #pairs = new Set<Pair>();
  #targetPort = 0;
  #frozen = false;

  constructor() {
    this.#server = createServer({ allowHalfOpen: true, noDelay: true }, (near) => this.#accept(near));
  }

  /** Rejects where the address cannot be taken. What connects before {@link leadTo} is called is refused. */
  async listen({ host, port }: { host: string; port: number }): Promise<number> {
    this.#server.listen({ host, port });
    await once(this.#server, 'listening');
    const address = this.#server.address();
    return typeof address === 'object' && address !== null ? address.port : port;
  }

  /** To a port of 127.0.0.1. */
  leadTo(port: number): void {
    this.#targetPort = port;
  }

  /** Nothing passes any more, in either direction; connections are taken and get no further. Nothing is closed. */
  freeze(): void {
    this.#frozen = true;
    for (const { near, far } of this.#pairs) {
      near.unpipe(far).pause();
      far.unpipe(near).pause();
    }
  }

  thaw(): void {
    if (!this.#frozen) return;
    this.#frozen = false;
    for (const pair of this.#pairs) join(pair);
  }

  /** Resets all connections, or the one that the server knows by `port` at its other end. Returns how many those were. */
  reset(port?: number): number {
    const pairs = [...this.#pairs].filter(({ far }) => port === undefined || far.localPort === port);
    for (const pair of pairs) {
      this.#pairs.delete(pair);
      reset(pair);
    }
    return pairs.length;
  }

  async close(): Promise<void> {
    for (const { near, far } of this.#pairs) {
      near.destroy();
      far.destroy();
    }
    if (!this.#server.listening) return;
    this.#server.close();
    await once(this.#server, 'close');
  }

  #accept(near: Socket): void {
    const far = connect({ host: '127.0.0.1', port: this.#targetPort, allowHalfOpen: true, noDelay: true });
    const pair = { near, far };
    this.#pairs.add(pair);
    this.#follow(pair, near, far);
    this.#follow(pair, far, near);
    if (this.#frozen) near.pause();
    else join(pair);
  }

  /** An end is passed on by the pipe; what breaks on one side breaks on the other. */
  #follow(pair: Pair, one: Socket, other: Socket): void {
    one
      .on('error', () => {})
      .once('close', () => {
        const isWhole = one.readableEnded && one.writableFinished;
        if (this.#pairs.has(pair) && !isWhole) other.destroy();
        if (one === pair.near) this.#pairs.delete(pair);
      });
  }
}

function join({ near, far }: Pair): void {
  near.pipe(far);
  far.pipe(near);
}

/**
 * A reset that comes while the end of a socket is on its way fails, and Node then never lets go of the socket: one that has ended, or
 * has something to send first, is closed, and one that is being reset is left alone.
 */
function reset({ near, far }: Pair): void {
  near.unpipe(far);
  far.unpipe(near);
  if (near.writableEnded || near.writableLength > 0) near.destroy();
  else near.resetAndDestroy();
  far.destroy();
}
