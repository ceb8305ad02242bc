import type { Duplex, Writable } from 'node:stream';
import { SpdyConnection, type SpdyStream } from '@asterism/client';

export interface ForwardTarget {
  /** For messages. */
  pod: string;
  dial(port: number): Promise<Duplex>;
}

/** How long the second stream of a pair may take. */
const PAIR_MS = 30_000;

interface Pair {
  data?: SpdyStream;
  error?: SpdyStream;
}

/**
 * `portforward.k8s.io`: for each connection the client opens a data and an error stream with the same `requestID`. An error is
 * told on the latter; it concerns that connection alone.
 */
export async function forwardOverSpdy(transport: Duplex, target: ForwardTarget): Promise<void> {
  const pairs = new Map<string, Pair>();
  const connection = new SpdyConnection(transport, {
    onStream: (stream) => {
      const type = requireType(stream);
      requirePort(stream.headers.get('port') ?? '');
      const id = requestIdOf(stream, type);
      const pair = pairs.get(id) ?? {};
      if (pair[type] !== undefined) throw new Error(`${type} stream already assigned`);
      pair[type] = stream;
      const { data, error } = pair;
      if (data === undefined || error === undefined) {
        pairs.set(id, pair);
        const timer = setTimeout(() => stream.destroy(), PAIR_MS);
        timer.unref();
        stream.once('close', () => {
          clearTimeout(timer);
          if (pairs.get(id) === pair) pairs.delete(id);
        });
        stream.once('paired', () => clearTimeout(timer));
        return;
      }
      pairs.delete(id);
      (type === 'data' ? error : data).emit('paired');
      error.resume();
      void forwardOne({ target, port: requirePort(data.headers.get('port') ?? ''), data, error });
    },
  });
  await connection.run();
}

/** Serves one connection; resolves when it is over. */
export async function forwardOne(forward: {
  target: ForwardTarget;
  port: number;
  data: Duplex;
  error: Writable;
}): Promise<void> {
  const { target, port, data, error } = forward;
  // Whoever vanishes breaks both, also while there is nothing behind the port yet.
  for (const stream of [data, error]) stream.on('error', () => {});
  try {
    join(data, await target.dial(port));
    await closed(data);
    error.end();
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    error.end(`error forwarding port ${port} to pod ${target.pod}, uid : ${reason}`);
    data.resume();
    data.end();
  }
}

/** Each direction ends for itself; a side that breaks breaks the other. */
function join(one: Duplex, other: Duplex): void {
  for (const [from, to] of [
    [one, other],
    [other, one],
  ] as const) {
    from.on('error', () => {});
    from.once('close', () => {
      if (!from.readableEnded || !from.writableFinished) to.destroy();
    });
    from.pipe(to);
  }
}

function closed(stream: Duplex): Promise<void> {
  if (stream.closed) return Promise.resolve();
  return new Promise((resolve) => {
    stream.once('close', resolve);
  });
}

function requireType(stream: SpdyStream): 'data' | 'error' {
  const type = stream.headers.get('streamtype');
  if (type !== 'data' && type !== 'error') throw new Error(`invalid stream type "${type}"`);
  return type;
}

function requirePort(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (port < 1 || port > 0xffff) throw new Error(`unable to parse "${text}" as a port`);
  return port;
}

/** Clients before `requestID` opened the error stream first and the data stream right after it. */
function requestIdOf(stream: SpdyStream, type: 'data' | 'error'): string {
  return stream.headers.get('requestid') ?? String(type === 'error' ? stream.id : stream.id - 2);
}
