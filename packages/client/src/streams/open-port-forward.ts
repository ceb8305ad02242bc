import type { Duplex } from 'node:stream';
import { finished } from 'node:stream/promises';
import { abortReason } from '../abort.ts';
import type { Client } from '../client.ts';
import { ClientError } from '../client-error.ts';
import { SpdyConnection } from '../spdy/spdy-connection.ts';
import { WebSocketTunnel } from '../websocket/websocket-tunnel.ts';
import { askUpgrade, isOfApi, type UpgradeAttempt } from './ask-upgrade.ts';
import { keepAlive } from './keep-alive.ts';

export interface PortForwardRequest {
  namespace: string;
  pod: string;
  /** Ends all of it when it aborts. */
  signal?: AbortSignal | undefined;
  /** How often a sign of life is sent, for what stands in between and forgets idle connections. Default 15 s. */
  pingMs?: number | undefined;
}

/** One connection to a port of a pod. */
export interface ForwardedConnection {
  /** Each direction ends for itself. Broken with `ERR_STREAM_LOST` where the connection that carries it is. */
  readonly data: Duplex;
  /** Resolves when the node has no more to say of it: with what it said, `ERR_PORT_FORWARD`, which breaks `data` too. */
  readonly failure: Promise<ClientError | undefined>;
}

/** A way to the ports of one pod: any number of connections, to any of them, at a time. */
export interface PortForward extends AsyncDisposable {
  /** What carries it: `portforward.k8s.io over SPDY`. */
  readonly protocol: string;
  /** Of several connections one that is not read may hold up the others, where the node speaks no flow control. */
  connect(port: number): ForwardedConnection;
  /** Resolves when the connection that carries it has ended, whoever ended it. */
  readonly gone: Promise<void>;
  close(): void;
}

const PROTOCOL = 'portforward.k8s.io';
const TUNNEL = `SPDY/3.1+${PROTOCOL}`;

/** In kubectl's order. The tunnel is there from Kubernetes 1.30 on (KEP-4006). */
const ATTEMPTS: readonly UpgradeAttempt[] = [
  { transport: 'websocket', protocols: [TUNNEL] },
  { transport: 'spdy', protocols: [PROTOCOL] },
];

/**
 * Opens a way to the ports of a pod: SPDY in a WebSocket tunnel where the server takes that, else SPDY by itself. Rejects with a
 * `StatusError` where the server refuses it, with a `ClientError` where no answer comes, and with the signal's reason.
 */
export async function openPortForward(client: Client, request: PortForwardRequest): Promise<PortForward> {
  const { namespace, pod, signal } = request;
  const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods/${encodeURIComponent(pod)}/portforward`;
  let told: Error | undefined;
  for (const attempt of ATTEMPTS) {
    const answer = await askUpgrade(client, { path, signal }, attempt);
    if ('socket' in answer) return start(answer.socket, attempt, request);
    if (told === undefined || isOfApi(answer.refusal)) told = answer.refusal;
  }
  throw told ?? new Error('unreachable');
}

function start(socket: Duplex, { transport }: UpgradeAttempt, { signal, pingMs }: PortForwardRequest): PortForward {
  const tunnel = transport === 'websocket' ? new WebSocketTunnel(socket, { role: 'client' }) : undefined;
  const connection = new SpdyConnection(tunnel ?? socket, { resetMeans: 'break' });
  const gone = Promise.all([connection.run(), tunnel?.run()]).then(() => {});
  const close = (): void => {
    connection.close();
    socket.destroy();
  };
  keepAlive(() => connection.ping(), gone, pingMs);
  let requests = 0;
  const onAbort = (): void => void socket.destroy(signal && abortReason(signal));
  if (signal?.aborted) onAbort();
  else signal?.addEventListener('abort', onAbort, { once: true });
  void gone.then(() => signal?.removeEventListener('abort', onAbort));
  return {
    protocol: transport === 'websocket' ? `${TUNNEL} over WebSocket` : `${PROTOCOL} over SPDY`,
    connect: (port) => connect(connection, port, requests++),
    gone,
    close,
    [Symbol.asyncDispose]: async () => {
      close();
      await gone;
    },
  };
}

function connect(connection: SpdyConnection, port: number, requestId: number): ForwardedConnection {
  const headers = (type: string) =>
    new Map([
      ['streamtype', type],
      ['port', String(port)],
      ['requestid', String(requestId)],
    ]);
  const error = connection.open(headers('error'));
  const data = connection.open(headers('data'));
  error.end();
  const failure = readError(error).then((text) => {
    if (text === '') return undefined;
    const said = new ClientError(text, { code: 'ERR_PORT_FORWARD' });
    data.destroy(said);
    return said;
  });
  return { data, failure };
}

const MAX_ERROR_BYTES = 64 * 1024;

async function readError(stream: Duplex): Promise<string> {
  const pieces: Buffer[] = [];
  let length = 0;
  stream.on('data', (piece: Buffer) => {
    length += piece.length;
    if (length <= MAX_ERROR_BYTES) pieces.push(piece);
  });
  await finished(stream, { writable: false }).catch(() => {});
  return Buffer.concat(pieces).toString('utf8').trim();
}
