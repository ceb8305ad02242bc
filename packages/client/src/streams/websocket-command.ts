import type { Duplex } from 'node:stream';
import { WebSocketChannels } from '../websocket/websocket-channels.ts';
import { WebSocketConnection } from '../websocket/websocket-connection.ts';
import type { CommandChannels, StreamPlan } from './command-stream.ts';

const CHANNEL = { stdin: 0, stdout: 1, stderr: 2, error: 3, resize: 4 } as const;

/** The channels of a command over WebSocket. `tellsEnd`: the end of its input can be told (`v5.channel.k8s.io`). */
export function openWebSocketCommand(
  transport: Duplex,
  plan: StreamPlan,
  { tellsEnd }: { tellsEnd: boolean },
): CommandChannels {
  const connection = new WebSocketConnection(transport, { role: 'client' });
  const channels = new WebSocketChannels(connection, { base64: false });
  // Servers tell the end of no channel but by that of the connection.
  const input = (channel: number) => channels.input(channel, { endsWithConnection: true });
  const stdout = plan.stdout ? input(CHANNEL.stdout) : undefined;
  const stderr = plan.stderr ? input(CHANNEL.stderr) : undefined;
  const error = input(CHANNEL.error);
  return {
    stdin: plan.stdin ? channels.output(CHANNEL.stdin, { tellsEnd }) : undefined,
    stdout,
    stderr,
    error,
    resize: plan.tty ? channels.output(CHANNEL.resize) : undefined,
    gone: channels.run(),
    ping: () => channels.ping(),
    finish: () => connection.close(),
  };
}
