import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream/promises';
import { type Connection, createTransport, type HttpTransport } from '@asterism/client';
import type { Behaviour } from './behaviours.ts';

/** An API server that hands requests on to a member, but answers some of them itself, in whatever way a test chooses. */
export class HostileApiServer implements AsyncDisposable {
  /** Of a request's path with its query; undefined where the member answers. */
  behave: (path: string) => Behaviour | undefined = () => undefined;
  /** How often it misbehaved. */
  answers = 0;
  readonly #server: Server;
  readonly #member: HttpTransport;

  private constructor(member: Connection) {
    this.#member = createTransport(member);
    this.#server = createServer((request, response) => void this.#answer(request, response));
  }

  static async start(member: Connection): Promise<HostileApiServer> {
    const server = new HostileApiServer(member);
    server.#server.listen(0, '127.0.0.1');
    await once(server.#server, 'listening');
    return server;
  }

  get connection(): Connection {
    const { port } = this.#server.address() as AddressInfo;
    return { server: `http://127.0.0.1:${port}`, credential: { kind: 'none' } };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await this.#member.close();
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const gone = new AbortController();
    response.on('close', () => gone.abort());
    response.on('error', () => {});
    const path = request.url ?? '/';
    const behaviour = this.behave(path);
    try {
      if (behaviour) {
        this.answers++;
        await behaviour(request, response, gone.signal);
      } else await this.#pass(request, response, gone.signal);
    } catch {
      response.destroy();
    }
  }

  async #pass(request: IncomingMessage, response: ServerResponse, signal: AbortSignal): Promise<void> {
    const { method = 'GET', url: path = '/', headers } = request;
    const { host: _, connection: __, ...passed } = headers;
    const hasBody = method !== 'GET' && method !== 'HEAD';
    const long = path.includes('watch=true');
    const answer = await this.#member.request({
      method,
      path,
      headers: passed,
      ...(hasBody ? { body: request } : {}),
      long,
      signal,
    });
    const { 'transfer-encoding': ___, connection: ____, ...given } = answer.headers;
    response.writeHead(answer.status, given as Record<string, string>);
    response.flushHeaders();
    await pipeline(answer.body, response);
  }
}
