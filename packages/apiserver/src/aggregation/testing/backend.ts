import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createSecureServer } from 'node:http2';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { createCertificateAuthority, type KeyPair } from '../../pki/certificate-authority.ts';
import { issueCertificate } from '../../pki/issue-certificate.ts';

export type Answer = (request: IncomingMessage, response: ServerResponse) => void;

/** A server behind an aggregator, that says and does whatever a test wants. */
export interface Backend extends AsyncDisposable {
  readonly port: number;
  /** Of its certificate, which names `SERVICE.default.svc`. */
  readonly ca: KeyPair;
  /** What was asked for other than by the aggregator itself, in order. */
  readonly requests: IncomingMessage[];
  answer: Answer;
  upgrade: (request: IncomingMessage, socket: Duplex, head: Buffer) => void;
  /** Ends every connection and listens no more. */
  stop(): Promise<void>;
}

export interface BackendOptions {
  service: string;
  /** Resources of `widgets.example.com/v1`, as discovery has them. */
  resources?: object[];
  /** Whether aggregated discovery is known to it. Default true. */
  isModern?: boolean;
  http2?: boolean;
}

export const GROUP = 'widgets.example.com';

const WIDGET = {
  type: 'object',
  properties: { spec: { type: 'object', description: 'What it is.', properties: { size: { type: 'integer' } } } },
  'x-kubernetes-group-version-kind': [{ group: GROUP, version: 'v1', kind: 'Widget' }],
};

const LEGACY = [
  { name: 'widgets', singularName: 'widget', namespaced: true, kind: 'Widget', verbs: ['get', 'list', 'watch'] },
  { name: 'widgets/status', singularName: '', namespaced: true, kind: 'Widget', verbs: ['get'] },
];

export const DISCOVERED = {
  resource: 'widgets',
  responseKind: { group: GROUP, version: 'v1', kind: 'Widget' },
  scope: 'Namespaced',
  singularResource: 'widget',
  verbs: ['get', 'list', 'watch'],
  subresources: [
    { subresource: 'status', responseKind: { group: GROUP, version: 'v1', kind: 'Widget' }, verbs: ['get'] },
  ],
};

/** Serves discovery and OpenAPI of `widgets.example.com/v1`; what else is asked goes to `answer`. */
export async function startBackend({ service, isModern = true, http2 = true }: BackendOptions): Promise<Backend> {
  const ca = await createCertificateAuthority({ commonName: 'backend-ca' });
  const tls = await issueCertificate(ca, {
    commonName: service,
    dnsNames: [`${service}.default.svc`],
    usages: ['server'],
    days: 1,
  });
  const server = http2 ? createSecureServer({ ...tls, allowHTTP1: true }) : createServer(tls);
  const sockets = new Set<Duplex>();
  server.on('secureConnection', (socket: Duplex) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.once('close', () => sockets.delete(socket));
  });
  server.on('sessionError', () => {});
  server.on('tlsClientError', () => {});
  const requests: IncomingMessage[] = [];
  const backend = {
    ca,
    requests,
    answer: (_: IncomingMessage, response: ServerResponse) => json(response, { kind: 'WidgetList', items: [] }),
    upgrade: (_: IncomingMessage, socket: Duplex) => void socket.destroy(),
  };
  server.on('request', (request: unknown, response: unknown) => {
    const [asked, answer] = [request as IncomingMessage, response as ServerResponse];
    if (asked.headers['x-remote-user'] === 'system:kube-aggregator' && describe(asked, answer, isModern)) return;
    requests.push(asked);
    backend.answer(asked, answer);
  });
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    requests.push(request);
    (backend as unknown as Backend).upgrade(request, socket, head);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const stop = async (): Promise<void> => {
    if (!server.listening) return;
    const closed = once(server, 'close');
    server.close();
    for (const socket of sockets) socket.destroy();
    await closed;
  };
  return Object.assign(backend, {
    port: (server.address() as AddressInfo).port,
    stop,
    [Symbol.asyncDispose]: stop,
  });
}

export function json(response: ServerResponse, value: object, status = 200, type = 'application/json'): void {
  response.writeHead(status, { 'content-type': type });
  response.end(JSON.stringify(value));
}

/** Whether it was about what the server says of itself. */
function describe({ url = '', headers }: IncomingMessage, response: ServerResponse, isModern: boolean): boolean {
  if (url === `/apis/${GROUP}/v1`) {
    json(response, { kind: 'APIResourceList', groupVersion: `${GROUP}/v1`, resources: LEGACY });
  } else if (url === '/apis') {
    if (!isModern || !String(headers.accept).includes('as=APIGroupDiscoveryList')) {
      json(response, { kind: 'APIGroupList', groups: [] });
    } else {
      const type = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
      const versions = [{ version: 'v1', resources: [DISCOVERED], freshness: 'Current' }];
      json(response, { items: [{ metadata: { name: GROUP }, versions }] }, 200, type);
    }
  } else if (url === '/openapi/v3' && isModern) {
    const serverRelativeURL = `/openapi/v3/apis/${GROUP}/v1?hash=ABC`;
    json(response, { paths: { [`apis/${GROUP}/v1`]: { serverRelativeURL } } });
  } else if (url === `/openapi/v3/apis/${GROUP}/v1?hash=ABC`) {
    json(response, { openapi: '3.0.0', components: { schemas: { 'com.example.Widget': WIDGET } } });
  } else if (url === '/openapi/v2') {
    json(response, {
      paths: {
        [`/apis/${GROUP}/v1/widgets`]: {
          get: {
            produces: ['application/json'],
            responses: { 200: { schema: { $ref: '#/definitions/com.example.Widget' } } },
          },
        },
        '/apis/other.example.com/v1/others': {},
      },
      definitions: { 'com.example.Widget': WIDGET, 'com.example.Other': {} },
    });
  } else {
    if (!url.startsWith('/openapi/')) return false;
    response.writeHead(404).end();
  }
  return true;
}
