import type { Duplex } from 'node:stream';
import { WebSocketChannels, WebSocketConnection } from '@asterism/client';
import type { CommandRequest, CommandStreams } from '../command-streams.ts';

const STDIN = 0;
const STDOUT = 1;
const STDERR = 2;
const ERROR = 3;
const RESIZE = 4;

/** From which on the error channel has a `Status` as JSON. */
const STATUS_PROTOCOL = /^v[45]\./;

/** The streams of a command over WebSocket, and the promise of the connection's end. */
export function openWebSocketCommand(
  transport: Duplex,
  protocol: string,
  request: CommandRequest,
): { streams: CommandStreams; gone: Promise<void> } {
  const connection = new WebSocketConnection(transport, { role: 'server' });
  const channels = new WebSocketChannels(connection, { base64: protocol.includes('base64') });
  const stdin = request.stdin ? channels.input(STDIN) : undefined;
  const resize = channels.input(RESIZE);
  channels.greet(request.stdout ? STDOUT : request.stderr ? STDERR : ERROR);
  const error = channels.output(ERROR);
  const streams: CommandStreams = {
    stdin,
    resize,
    stdout: request.stdout ? channels.output(STDOUT) : undefined,
    stderr: request.stderr && !request.tty ? channels.output(STDERR) : undefined,
    sendStatus: (status) => {
      if (STATUS_PROTOCOL.test(protocol)) error.write(JSON.stringify(status));
      else if (status.status !== 'Success') error.write(status.message ?? '');
    },
    finish: () => error.end(() => connection.close()),
  };
  return { streams, gone: channels.run() };
}
