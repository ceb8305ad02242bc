import { once } from 'node:events';
import { createServer as createHttpServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { createCertificateAuthority, issueCertificate } from '@asterism/apiserver';
import { answerWebSocket, WebSocketConnection } from '@asterism/client';

/** Servers that are no API servers, over HTTP and HTTPS: what stands beside a cluster in its network. */
export interface OtherServers extends AsyncDisposable {
  /** `http://127.0.0.1:port`; `https://`. */
  http: string;
  https: string;
  /** PEM. */
  ca: string;
  /** All that came, but upgrades. */
  seen: IncomingMessage[];
}

/** `/moved` redirects; a WebSocket gets its messages back; anything else is told its method, URL and body. */
export async function startOtherServers(): Promise<OtherServers> {
  const parts = new AsyncDisposableStack();
  const seen: IncomingMessage[] = [];
  const answer = (request: IncomingMessage, response: ServerResponse): void => {
    seen.push(request);
    if (request.url === '/moved') return void response.writeHead(302, { location: 'http://10.0.0.1/x' }).end();
    response.writeHead(200, { 'set-cookie': 'session=1' });
    response.write(`${request.method} ${request.url} `);
    request.pipe(response);
  };
  const ca = await createCertificateAuthority({ commonName: 'corp' });
  const { cert, key } = await issueCertificate(ca, {
    commonName: 'registry',
    ipAddresses: ['127.0.0.1'],
    usages: ['server'],
    days: 1,
  });
  const start = async (server: Server): Promise<number> => {
    server.on('upgrade', echoMessages);
    await once(server.listen(0, '127.0.0.1'), 'listening');
    parts.defer(() => {
      server.close();
      server.closeAllConnections();
    });
    return (server.address() as AddressInfo).port;
  };
  const http = `http://127.0.0.1:${await start(createHttpServer(answer))}`;
  const https = `https://127.0.0.1:${await start(createHttpsServer({ cert, key }, answer))}`;
  return { http, https, ca: ca.cert, seen, [Symbol.asyncDispose]: () => parts.disposeAsync() };
}

function echoMessages({ headers }: IncomingMessage, socket: Duplex): void {
  const answer = answerWebSocket(headers, ['chat']);
  if ('refused' in answer) return void socket.end(`HTTP/1.1 ${answer.refused.status} No\r\n\r\n`);
  const lines = Object.entries(answer.headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`HTTP/1.1 101 Switching Protocols\r\n${lines.join('')}\r\n`);
  const connection = new WebSocketConnection(socket, { role: 'server' });
  void connection.run(({ data }) => {
    connection.send([data]);
    return undefined;
  });
}
