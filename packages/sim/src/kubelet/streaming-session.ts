import type { Duplex } from 'node:stream';
import type { Headers } from '@asterism/apiserver';
import { WebSocketTunnel } from '@asterism/client';
import { isStatusError } from '@asterism/machinery';
import type { ContainerRef, NodeBackend, PodRef, Process } from '../machine/container-runtime.ts';
import type { CommandRequest, CommandStreams } from './command-streams.ts';
import { type CommandStatus, failureStatus, INTERNAL_ERROR } from './exit-status.ts';
import { type Negotiated, negotiateUpgrade, type Offered } from './negotiate-upgrade.ts';
import { forwardOverSpdy } from './port-forward.ts';
import { serveCommand } from './serve-command.ts';
import { openSpdyCommand } from './spdy/spdy-command.ts';
import { openWebSocketCommand } from './websocket/websocket-command.ts';
import { forwardOverChannels } from './websocket/websocket-port-forward.ts';

/** A connection that asked for an Upgrade. */
export interface UpgradeCall {
  headers: Headers;
  socket: Duplex;
  /** Bytes that came behind the request. */
  head: Buffer;
}

export interface CommandCall {
  kind: 'exec' | 'attach';
  backend: NodeBackend;
  ref: ContainerRef;
  request: CommandRequest;
  /** Of exec. */
  command: readonly string[];
}

export interface PortForwardCall {
  backend: NodeBackend;
  pod: PodRef;
  /** What a client over WebSocket channels asked for; others name ports on the way. */
  ports: readonly number[];
}

const COMMAND_PROTOCOLS: Offered = {
  spdy: [...[5, 4, 3, 2].map((version) => `v${version}.channel.k8s.io`), 'channel.k8s.io'],
  websocket: [
    'v5.channel.k8s.io',
    'v4.channel.k8s.io',
    'v4.base64.channel.k8s.io',
    'channel.k8s.io',
    'base64.channel.k8s.io',
  ],
};

const TUNNEL = 'SPDY/3.1+portforward.k8s.io';

const FORWARD_PROTOCOLS: Offered = {
  spdy: ['portforward.k8s.io'],
  websocket: [TUNNEL, 'v4.channel.k8s.io', 'v4.base64.channel.k8s.io'],
};

const STREAM_CREATION_MS = 30_000;

/**
 * Runs or attaches to a command and serves its streams until either end is over. Rejects, with nothing written, where the
 * Upgrade cannot be agreed on or the container does not take it.
 */
export async function serveCommandUpgrade(call: UpgradeCall, command: CommandCall): Promise<void> {
  const negotiated = negotiateUpgrade(call.headers, COMMAND_PROTOCOLS);
  const begun = await begin(command);
  const { streams, gone } = open(accept(call, negotiated), negotiated, command.request);
  const opened = await streams;
  if ('failure' in begun) {
    opened?.sendStatus(begun.failure);
    opened?.finish();
  } else if (opened === undefined) begun.kill('KILL');
  else await serveCommand(begun, command.command, opened, gone);
}

type Begun = Process | { failure: CommandStatus };

/** A program that cannot be started is told on the error stream; a container that is not there refuses the Upgrade. */
async function begin({ kind, backend, ref, request, command }: CommandCall): Promise<Begun> {
  const { stdin, tty } = request;
  if (kind === 'attach') return await backend.attach(ref, { stdin, tty });
  try {
    return await backend.exec(ref, { command, tty, stdin });
  } catch (error) {
    if (isStatusError(error) && !error.message.startsWith(INTERNAL_ERROR)) throw error;
    return { failure: failureStatus(error) };
  }
}

function open(
  transport: Duplex,
  { transport: kind, protocol }: Negotiated,
  request: CommandRequest,
): { streams: CommandStreams | undefined | Promise<CommandStreams | undefined>; gone: Promise<void> } {
  if (kind === 'websocket') return openWebSocketCommand(transport, protocol, request);
  return openSpdyCommand({ transport, protocol, request, streamCreationMs: STREAM_CREATION_MS });
}

/** Forwards connections to ports of a pod until the client ends. Rejects, with nothing written, as {@link serveCommandUpgrade}. */
export async function servePortForwardUpgrade(call: UpgradeCall, forward: PortForwardCall): Promise<void> {
  const negotiated = negotiateUpgrade(call.headers, FORWARD_PROTOCOLS);
  const { transport: kind, protocol } = negotiated;
  const { backend, pod, ports } = forward;
  const dial = (port: number): Promise<Duplex> => backend.dial(pod, port);
  const target = { pod: pod.pod, dial };
  const channels = kind === 'websocket' && protocol !== TUNNEL;
  const transport = accept(call, negotiated);
  if (channels) await forwardOverChannels(transport, { ...target, ports, base64: protocol.includes('base64') });
  else if (kind === 'spdy') await forwardOverSpdy(transport, target);
  else {
    const tunnel = new WebSocketTunnel(transport, { role: 'server' });
    await Promise.all([tunnel.run(), forwardOverSpdy(tunnel, target)]);
  }
}

/** Whether the ports have to be in the query, as over WebSocket without a tunnel. */
export function namesPortsInQuery(headers: Headers): boolean {
  const { transport, protocol } = negotiateUpgrade(headers, FORWARD_PROTOCOLS);
  return transport === 'websocket' && protocol !== TUNNEL;
}

function accept({ socket, head }: UpgradeCall, { headers }: Negotiated): Duplex {
  socket.on('error', () => {}); // It may be gone by now: whoever reads it is told.
  const lines = Object.entries(headers).map(([name, value]) => `${HEADER_NAMES[name] ?? name}: ${value}`);
  socket.write(['HTTP/1.1 101 Switching Protocols', ...lines, '', ''].join('\r\n'));
  if (head.length > 0) socket.unshift(head);
  return socket;
}

/** As Go servers write them: old clients look for these letters. */
const HEADER_NAMES: Record<string, string> = {
  connection: 'Connection',
  upgrade: 'Upgrade',
  'x-stream-protocol-version': 'X-Stream-Protocol-Version',
  'sec-websocket-accept': 'Sec-WebSocket-Accept',
  'sec-websocket-protocol': 'Sec-WebSocket-Protocol',
};
