import type { Duplex } from 'node:stream';
import { finished } from 'node:stream/promises';
import { abortReason } from '../abort.ts';
import type { Client } from '../client.ts';
import { ClientError } from '../client-error.ts';
import { askUpgrade, isOfApi, type UpgradeAttempt, type Upgraded } from './ask-upgrade.ts';
import {
  type AttachRequest,
  type CommandChannels,
  type CommandStream,
  type ExecRequest,
  planStreams,
  type StreamPlan,
} from './command-stream.ts';
import { readCommandStatus } from './command-status.ts';
import { keepAlive } from './keep-alive.ts';
import { openSpdyCommand } from './spdy-command.ts';
import { openWebSocketCommand } from './websocket-command.ts';

const V5 = 'v5.channel.k8s.io';
const V4 = 'v4.channel.k8s.io';

/**
 * Runs a command in a container. Over WebSocket (`v5.channel.k8s.io`) where the server speaks it, as Kubernetes does from 1.30 on,
 * else over SPDY; over v4 WebSocket last, which cannot tell the end of the input.
 *
 * Rejects with a `StatusError` where the server refuses it, with a `ClientError` where no answer comes, and with the signal's reason.
 */
export function openExec(client: Client, request: ExecRequest): Promise<CommandStream> {
  return openCommand(client, request, 'exec', request.command);
}

/** Attaches to the process that a container runs. As {@link openExec}. */
export function openAttach(client: Client, request: AttachRequest): Promise<CommandStream> {
  return openCommand(client, request, 'attach', []);
}

async function openCommand(
  client: Client,
  request: AttachRequest,
  subresource: 'exec' | 'attach',
  command: readonly string[],
): Promise<CommandStream> {
  const plan = planStreams(request);
  const call = { path: pathOf(request, subresource, plan, command), signal: request.signal };
  let told: Error | undefined;
  for (const attempt of attemptsFor(plan)) {
    const answer = await askUpgrade(client, call, attempt);
    if ('socket' in answer) return startCommand(answer, attempt, { plan, request });
    // What the API itself said of it tells more than what stands before it.
    if (told === undefined || isOfApi(answer.refusal)) told = answer.refusal;
  }
  throw told ?? new Error('unreachable');
}

/**
 * Servers before 1.30 hand v4 on to nodes, of which each ends the input in its own way, or not at all: where there is an input SPDY
 * comes first (KEP-4006).
 */
function attemptsFor({ stdin }: StreamPlan): UpgradeAttempt[] {
  const spdy: UpgradeAttempt = { transport: 'spdy', protocols: [V4] };
  if (!stdin) return [{ transport: 'websocket', protocols: [V5, V4] }, spdy];
  return [{ transport: 'websocket', protocols: [V5] }, spdy, { transport: 'websocket', protocols: [V4] }];
}

function pathOf(
  { namespace, pod, container }: AttachRequest,
  subresource: string,
  plan: StreamPlan,
  command: readonly string[],
): string {
  const query = new URLSearchParams();
  if (container !== undefined) query.set('container', container);
  for (const word of command) query.append('command', word);
  for (const [name, wanted] of Object.entries(plan)) if (wanted) query.set(name, 'true');
  const object = `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods/${encodeURIComponent(pod)}`;
  return `${object}/${subresource}?${query.toString()}`;
}

function startCommand(
  { socket, protocol }: Upgraded,
  { transport }: UpgradeAttempt,
  { plan, request }: { plan: StreamPlan; request: AttachRequest },
): CommandStream {
  const tellsEnd = transport === 'spdy' || protocol === V5;
  const channels =
    transport === 'spdy' ? openSpdyCommand(socket, plan) : openWebSocketCommand(socket, plan, { tellsEnd });
  const where = `pod ${request.namespace}/${request.pod}`;
  const exit = Promise.race([
    outcomeOf(channels, where),
    aborted(socket, channels.gone, request.signal),
    ...(tellsEnd ? [] : [endOfInput(socket, channels)]),
  ]);
  exit.catch(() => {}); // Whoever asks is told.
  keepAlive(() => channels.ping(), channels.gone, request.pingMs);
  const close = (): void => void socket.destroy();
  return {
    protocol: `${protocol} over ${transport === 'spdy' ? 'SPDY' : 'WebSocket'}`,
    stdin: channels.stdin,
    stdout: channels.stdout,
    stderr: channels.stderr,
    resize: ({ columns, rows }) => void channels.resize?.write(JSON.stringify({ Width: columns, Height: rows })),
    exit,
    close,
    [Symbol.asyncDispose]: async () => {
      close();
      await channels.gone;
    },
  };
}

/** Of a Status; more is nobody's. */
const MAX_STATUS_BYTES = 1024 * 1024;

async function outcomeOf(channels: CommandChannels, where: string): Promise<number> {
  const pieces: Buffer[] = [];
  let length = 0;
  channels.error.on('data', (piece: Buffer) => {
    length += piece.length;
    if (length <= MAX_STATUS_BYTES) pieces.push(piece);
  });
  await finished(channels.error, { writable: false }).catch(() => {});
  if (length === 0) {
    const message = `the connection to ${where} ended before the command told how it did`;
    throw new ClientError(message, { code: 'ERR_STREAM_LOST' });
  }
  // The output may still be on its way to its reader.
  void Promise.allSettled(
    [channels.stdout, channels.stderr].map(async (output) => {
      if (output !== undefined) await finished(output, { writable: false });
    }),
  ).then(() => channels.finish());
  const outcome = readCommandStatus(Buffer.concat(pieces).toString('utf8'));
  if ('error' in outcome) throw outcome.error;
  return outcome.code;
}

/** Ends the connection when the signal aborts. Never resolves. */
function aborted(socket: Duplex, gone: Promise<void>, signal: AbortSignal | undefined): Promise<never> {
  const { promise, reject } = Promise.withResolvers<never>();
  if (signal === undefined) return promise;
  const onAbort = (): void => {
    reject(abortReason(signal));
    socket.destroy();
  };
  if (signal.aborted) onAbort();
  else signal.addEventListener('abort', onAbort, { once: true });
  void gone.then(() => signal.removeEventListener('abort', onAbort));
  return promise;
}

/** Where its end cannot be told the command would wait for ever. Never resolves. */
function endOfInput(socket: Duplex, { stdin }: CommandChannels): Promise<never> {
  const { promise, reject } = Promise.withResolvers<never>();
  stdin?.once('finish', () => {
    const message = `the server speaks ${V4} over WebSocket alone, which cannot tell a command that its input has ended`;
    reject(new ClientError(message, { code: 'ERR_COMMAND' }));
    socket.destroy();
  });
  return promise;
}
