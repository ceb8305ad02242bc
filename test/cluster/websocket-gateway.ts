import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { type IncomingMessage, request as httpRequest } from 'node:http';
import { createServer, request as httpsRequest, type RequestOptions } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import { splice } from '@asterism/tunnel';
import type { ControlPlane } from './control-plane.ts';

/**
 * A gateway before a kube-apiserver that ends TLS and lets no upgrade pass but WebSocket's, as some do: any other is answered 403, in
 * HTML. Whoever shows a client certificate of the cluster is announced by the front proxy's identity, which the API server trusts
 * (`--requestheader-*`); tokens pass.
 */
export class WebSocketGateway implements AsyncDisposable {
  /** Upgrades that were refused, and let pass: `TOKEN PATH`. */
  readonly refused: string[] = [];
  readonly passed: string[] = [];
  readonly #host: URL;
  readonly #ca: string;
  readonly #identity: { cert: string; key: string };
  readonly #server: ReturnType<typeof createServer>;
  readonly #sockets = new Set<Duplex>();

  private constructor(host: ControlPlane, files: { serving: RequestOptions; identity: { cert: string; key: string } }) {
    this.#host = new URL(host.connection.server);
    this.#ca = host.pki.ca.cert;
    this.#identity = files.identity;
    const tls = { ...files.serving, ca: this.#ca, requestCert: true, rejectUnauthorized: false };
    this.#server = createServer(tls, (request, response) => {
      const onward = this.#ask(request).on('response', (answer) => {
        response.writeHead(answer.statusCode ?? 0, answer.headers);
        answer.pipe(response);
      });
      onward.on('error', () => response.destroy());
      response.on('close', () => onward.destroy());
      request.pipe(onward);
    });
    this.#server.on('connection', (socket: Duplex) => this.#keep(socket));
    this.#server.on('upgrade', (request, socket, head) => this.#upgrade(request, socket, head));
  }

  /** On a free port of 127.0.0.1, by a certificate of the host's authority for `name`. */
  static async start(host: ControlPlane, name: string): Promise<WebSocketGateway> {
    const { pki } = host;
    const serving = await pki.issue('gateway', {
      commonName: 'gateway',
      dnsNames: [name],
      usages: ['server'],
    });
    const [cert, key] = await Promise.all(
      ['crt', 'key'].map((kind) => readFile(pki.file(`front-proxy-client.${kind}`), 'utf8')),
    );
    const identity = { cert: cert ?? '', key: key ?? '' };
    const gateway = new WebSocketGateway(host, { serving: { cert: serving.cert, key: serving.key }, identity });
    gateway.#server.listen(0, '127.0.0.1');
    await once(gateway.#server, 'listening');
    return gateway;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  #keep(socket: Duplex): void {
    this.#sockets.add(socket);
    socket.on('error', () => {}).on('close', () => this.#sockets.delete(socket));
  }

  #ask({ method, url, headers, socket }: IncomingMessage): ReturnType<typeof httpRequest> {
    const claimed = Object.entries(headers).filter(([name]) => !name.startsWith('x-remote-'));
    const tls = socket as TLSSocket;
    const { subject } = tls.getPeerCertificate();
    const who = tls.authorized ? { 'x-remote-user': subject.CN, 'x-remote-group': [subject.O ?? []].flat() } : {};
    return httpsRequest({
      host: this.#host.hostname,
      port: this.#host.port,
      ca: this.#ca,
      ...(tls.authorized ? this.#identity : {}),
      method,
      path: url,
      headers: { ...Object.fromEntries(claimed), ...who },
    });
  }

  #upgrade(request: IncomingMessage, near: Duplex, head: Buffer): void {
    const { url = '', headers } = request;
    const asked = `${headers.upgrade} ${url}`;
    if (headers.upgrade?.toLowerCase() !== 'websocket') {
      this.refused.push(asked);
      near.end('HTTP/1.1 403 Forbidden\r\nContent-Type: text/html\r\nConnection: close\r\n\r\n<h1>Not here</h1>');
      return;
    }
    const onward = this.#ask(request);
    onward.on('error', () => near.destroy());
    onward.on('response', (answer) => {
      near.write(headOf(answer));
      answer.pipe(near);
    });
    onward.on('upgrade', (answer, far, behind) => {
      this.passed.push(asked);
      this.#keep(far);
      near.write(headOf(answer));
      for (const end of [near, far]) end.allowHalfOpen = true;
      if (head.length > 0) far.write(head);
      if (behind.length > 0) far.unshift(behind);
      void splice(near, far);
    });
    onward.end();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#server.closeAllConnections();
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }
}

function headOf({ statusCode, statusMessage, rawHeaders }: IncomingMessage): string {
  const lines = rawHeaders.flatMap((name, at) => (at % 2 === 0 ? [`${name}: ${rawHeaders[at + 1]}`] : []));
  return [`HTTP/1.1 ${statusCode} ${statusMessage}`, ...lines, '', ''].join('\r\n');
}
