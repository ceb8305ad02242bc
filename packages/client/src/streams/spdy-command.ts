import type { Duplex } from 'node:stream';
import { SpdyConnection } from '../spdy/spdy-connection.ts';
import type { SpdyStream } from '../spdy/spdy-stream.ts';
import type { CommandChannels, StreamPlan } from './command-stream.ts';

/** The channels of a command over SPDY: streams that the client opens, each named by its header `streamType`. */
export function openSpdyCommand(transport: Duplex, plan: StreamPlan): CommandChannels {
  // Kubelets reset what they have written to its end, as Go's clients read it.
  const connection = new SpdyConnection(transport, { resetMeans: 'end' });
  const gone = connection.run();
  const open = (type: string): SpdyStream => connection.open(new Map([['streamtype', type]]));
  const [error, stdin, stdout, stderr, resize] = [
    open('error'),
    plan.stdin ? open('stdin') : undefined,
    plan.stdout ? open('stdout') : undefined,
    plan.stderr ? open('stderr') : undefined,
    plan.tty ? open('resize') : undefined,
  ];
  // Nothing is said in the other direction, but that it ends.
  for (const stream of [stdin, resize]) stream?.resume();
  return {
    stdin,
    stdout,
    stderr,
    error,
    resize,
    gone,
    ping: () => connection.ping(),
    finish: () => connection.close(),
  };
}
