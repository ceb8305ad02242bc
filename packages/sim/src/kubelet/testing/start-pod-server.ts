import { EventEmitter } from 'node:events';
import { Readable } from 'node:stream';
import { startTestServer, type TestServer } from '@asterism/apiserver/testing';
import type { Client, Transport, TransportRequest, TransportResponse } from '@asterism/client';
import { type KubeObject, PODS } from '@asterism/machinery';
import { kubeletConnects } from '../kubelet-connects.ts';
import { FakeBackend } from './fake-backend.ts';

/** Which upgrades a server refuses as it would were it older: WebSocket, SPDY and v5 of WebSocket. */
export type Refused = 'nothing' | 'websocket' | 'spdy-and-v5';

/** An API server over real sockets, whose pod `web` a test plays. */
export interface PodServer extends AsyncDisposable {
  backend: FakeBackend;
  /** What was asked for, in order: `GET websocket`. */
  asked: string[];
  /** `written` for each write of the client on an upgraded connection. */
  events: EventEmitter;
  client(refused?: Refused): Client;
}

export async function startPodServer(): Promise<PodServer> {
  const backend = new FakeBackend();
  const server: TestServer = await startTestServer({
    admissionPlugins: { disable: ['ServiceAccount'] },
    connects: kubeletConnects({
      podOf: async (namespace, name) => await server.inside.resource(PODS).get({ namespace, name }),
      backendOf: () => backend,
    }),
  });
  const spec = { nodeName: 'n1', containers: [{ name: 'app', image: 'app' }] };
  await server.inside.resource(PODS).create({ metadata: { namespace: 'default', name: 'web' }, spec } as KubeObject);
  const asked: string[] = [];
  const events = new EventEmitter();
  return {
    backend,
    asked,
    events,
    client: (refused = 'nothing') =>
      server.client.through((transport) => told(refusing(transport, refused, asked), events)),
    [Symbol.asyncDispose]: () => server.stop(),
  };
}

function told(transport: Transport, events: EventEmitter): Transport {
  return {
    ...transport,
    async upgrade(request) {
      const response = await transport.upgrade(request);
      if (!('socket' in response)) return response;
      const { socket } = response;
      const write = socket.write.bind(socket) as (chunk: Uint8Array) => boolean;
      socket.write = (chunk: Uint8Array): boolean => {
        events.emit('written');
        return write(chunk);
      };
      return response;
    },
  };
}

function refusing(transport: Transport, refused: Refused, asked: string[]): Transport {
  return {
    request: (request) => transport.request(request),
    async upgrade(request) {
      const kind = String(request.headers?.['upgrade']);
      asked.push(`${request.method} ${kind}`);
      if (refused === 'nothing') return await transport.upgrade(request);
      if (refused === 'websocket') return kind === 'websocket' ? refusal(request) : await transport.upgrade(request);
      const offered = String(request.headers?.['sec-websocket-protocol'] ?? '').split(', ');
      const old = offered.filter((protocol) => protocol === 'v4.channel.k8s.io');
      if (old.length === 0) return refusal(request);
      return await transport.upgrade({ ...request, headers: { ...request.headers, 'sec-websocket-protocol': old } });
    },
    close: () => transport.close(),
    [Symbol.asyncDispose]: () => transport.close(),
  };
}

function refusal({ headers }: TransportRequest): TransportResponse {
  return { status: 403, headers: {}, body: Readable.from([Buffer.from(`no ${String(headers?.['upgrade'])} here`)]) };
}
