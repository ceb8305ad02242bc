import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import { type Clock, trustAnchors, trustAnchorsOnServer } from '@asterism/client';
import type { KubeObject } from '@asterism/machinery';
import type { NodeBackend, PodRef } from '../machine/container-runtime.ts';
import { answerRequest } from './kubelet-routes.ts';
import { upgradeRequest } from './kubelet-upgrades.ts';
import { UpgradeRefused } from './negotiate-upgrade.ts';
import { describeRefusal, refuseUpgrade } from './refuse-upgrade.ts';

export interface KubeletOptions {
  nodeName: string;
  /** Who runs a pod; undefined where it is not on this node. */
  backendOf(pod: PodRef): NodeBackend | undefined;
  /** All who run something here. */
  backends(): readonly NodeBackend[];
  /** The pods that are bound to this node. */
  pods(): readonly KubeObject[];
  /** Port 0 takes a free one. */
  listen: { host: string; port: number };
  /** PEM. */
  tls: { cert: string; key: string };
  /** PEM: only those with a client certificate of it are let in. */
  clientCa: string;
  clock: Pick<Clock, 'wall'>;
}

/** A kubelet's endpoint that is up. */
export interface Kubelet extends AsyncDisposable {
  readonly host: string;
  readonly port: number;
  stop(): Promise<void>;
}

const MAX_HEADER_BYTES = 64 * 1024;
const HEADERS_MS = 10_000;

/**
 * Serves what a kube-apiserver asks of a kubelet, over HTTPS and HTTP/1.1: logs, exec, attach, port forwarding, statistics.
 * Rejects where the address cannot be taken.
 */
export async function startKubelet(options: KubeletOptions): Promise<Kubelet> {
  const { tls, clientCa, listen } = options;
  const { createServer } = process.getBuiltinModule('node:https');
  const server = createServer(
    {
      ...tls,
      ...trustAnchors(clientCa),
      requestCert: true,
      // Without one it is answered 401, as by a kubelet.
      rejectUnauthorized: false,
      minVersion: 'TLSv1.2',
      ALPNProtocols: ['http/1.1'],
      handshakeTimeout: HEADERS_MS,
      maxHeaderSize: MAX_HEADER_BYTES,
      headersTimeout: HEADERS_MS,
      requestTimeout: 0,
      keepAlive: true,
      noDelay: true,
    },
    (request, response) => void answer(options, request, response),
  );
  trustAnchorsOnServer(server);
  const sockets = new Set<Duplex>();
  // One that is still in its TLS handshake at the end has to end too.
  for (const event of ['connection', 'secureConnection']) {
    server.on(event, (socket: Duplex) => {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.once('close', () => sockets.delete(socket));
    });
  }
  server.on('tlsClientError', () => {});
  server.on('upgrade', (request, socket, head) => void upgrade(options, { request, socket, head }));
  server.listen(listen);
  await once(server, 'listening');
  const address = server.address();
  const stop = async (): Promise<void> => {
    if (!server.listening) return;
    const closed = once(server, 'close');
    server.close();
    for (const socket of sockets) socket.destroy();
    await closed;
  };
  return {
    host: listen.host,
    port: typeof address === 'object' && address !== null ? address.port : listen.port,
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

async function answer(options: KubeletOptions, request: IncomingMessage, response: ServerResponse): Promise<void> {
  request.resume();
  const left = new AbortController();
  response.once('close', () => left.abort());
  try {
    requireCertificate(request);
    await answerRequest(options, request, response, left.signal);
  } catch (error) {
    if (response.headersSent) {
      response.destroy();
      return;
    }
    const { status, text, headers } = describeRefusal(error);
    response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8', ...headers });
    response.end(text);
  }
}

async function upgrade(
  options: KubeletOptions,
  { request, socket, head }: { request: IncomingMessage; socket: Duplex; head: Buffer },
): Promise<void> {
  try {
    requireCertificate(request);
    await upgradeRequest(options, request, { headers: request.headers, socket, head });
  } catch (error) {
    refuseUpgrade(socket, error);
  }
}

function requireCertificate(request: IncomingMessage): void {
  if (!(request.socket as TLSSocket).authorized) throw new UpgradeRefused(401, 'Unauthorized');
}
