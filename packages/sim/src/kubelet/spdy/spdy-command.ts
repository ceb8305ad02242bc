import type { Duplex } from 'node:stream';
import { SpdyConnection, type SpdyStream } from '@asterism/client';
import type { CommandRequest, CommandStreams } from '../command-streams.ts';

export interface SpdyCommandOptions {
  transport: Duplex;
  /** `v4.channel.k8s.io` and the like. */
  protocol: string;
  request: CommandRequest;
  /** How long the client may take to open the streams that it asked for. */
  streamCreationMs: number;
}

const STREAM_TYPES = ['error', 'stdin', 'stdout', 'stderr', 'resize'];

/** The streams of a command over SPDY, which the client opens, each named by its header `streamType`. */
export function openSpdyCommand(options: SpdyCommandOptions): {
  streams: Promise<CommandStreams | undefined>;
  gone: Promise<void>;
} {
  const { transport, protocol, request, streamCreationMs } = options;
  const wanted = wantedStreams(protocol, request);
  const opened = new Map<string, SpdyStream>();
  const complete = Promise.withResolvers<void>();
  const onStream = (stream: SpdyStream): void => {
    const type = stream.headers.get('streamtype') ?? '';
    if (!STREAM_TYPES.includes(type) || opened.has(type)) throw new Error(`unexpected stream type ${type}`);
    opened.set(type, stream);
    if (wanted.every((each) => opened.has(each))) complete.resolve();
  };
  const connection = new SpdyConnection(transport, { onStream });
  const gone = connection.run();
  const streams = inTime(Promise.race([complete.promise, gone]), streamCreationMs).then(() => {
    if (wanted.every((each) => opened.has(each))) return streamsOf(connection, opened, protocol);
    connection.close();
    return undefined;
  });
  return { streams, gone };
}

/** Sizes of a terminal are sent from version 3 on. */
function wantedStreams(protocol: string, { stdin, stdout, stderr, tty }: CommandRequest): string[] {
  const wanted = ['error'];
  if (stdin) wanted.push('stdin');
  if (stdout) wanted.push('stdout');
  if (stderr && !tty) wanted.push('stderr');
  if (tty && /^v[345]\./.test(protocol)) wanted.push('resize');
  return wanted;
}

function streamsOf(connection: SpdyConnection, opened: Map<string, SpdyStream>, protocol: string): CommandStreams {
  const error = opened.get('error')!;
  return {
    stdin: opened.get('stdin'),
    stdout: opened.get('stdout'),
    stderr: opened.get('stderr'),
    resize: opened.get('resize'),
    sendStatus: (status) => {
      if (/^v[45]\./.test(protocol)) error.write(JSON.stringify(status));
      else if (status.status !== 'Success') error.write(status.message ?? '');
    },
    finish: () => {
      for (const type of ['stdin', 'stdout', 'stderr', 'resize']) opened.get(type)?.end();
      if (error.destroyed) connection.close();
      else error.end(() => connection.close());
    },
  };
}

async function inTime(work: Promise<void>, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([work, late]);
  clearTimeout(timer);
}
