import { once } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { listen, urlOf } from './listen.ts';
import type { Logger } from '../log/logger.ts';
import type { ManagedServer, Manager } from '../lifecycle/manager.ts';
import type { Instruments } from '../instruments/instruments.ts';
import { answerProbe, type ProbeCheck } from './answer-probe.ts';
import { clusterRemarks } from './cluster-remarks.ts';

const { createServer } = process.getBuiltinModule('node:http');

/**
 * Where a status server listens, and what it tells.
 *
 * @example {@link createStatusServer}
 */
export interface StatusServerOptions {
  /** 0 takes a free one. */
  port: number;
  /** The address to listen on. Default: all, so that the kubelet and Prometheus reach it; it asks nobody who they are. */
  host?: string | undefined;
  /** What `/metrics` says. Without it there is no such path. */
  metrics?: Pick<Instruments, 'read'> | undefined;
  /** Further checks of liveness. A process that fails one should be restarted. */
  health?: readonly ProbeCheck[] | undefined;
  /** Checks of readiness in addition to the manager's caches. A process that fails one should get no requests. */
  ready?: readonly ProbeCheck[] | undefined;
}

/**
 * A server that tells how a manager is.
 *
 * @example {@link createStatusServer}
 */
export interface StatusServer extends ManagedServer {
  /** `http://host:port`, for as long as it listens; undefined before and after. */
  readonly url: string | undefined;
}

/** How long a check may take before it counts as failed; a kubelet waits for 1 s unless it is told otherwise. */
const CHECK_MS = 5_000;

/**
 * Serves `/metrics`, `/healthz` (also as `/livez`) and `/readyz` of a manager over HTTP.
 *
 * `/readyz` is 200 when every controller has the local caches that it needs, in a standby too, and else names each informer
 * that has not listed yet and the HTTP status that it hangs on. A member cluster never makes it fail; `?verbose` tells of those
 * that are not well.
 *
 * @example
 * ```ts
 * const status = createStatusServer({
 *   port: 8080,
 *   metrics,
 *   ready: [{ name: 'license', check: () => (process.env['LICENSE'] ? undefined : 'LICENSE is not set') }],
 * });
 * const manager = createManager({ client, logger, metrics, servers: [status] });
 * ```
 */
export function createStatusServer(options: StatusServerOptions): StatusServer {
  return new HttpStatusServer(options);
}

class HttpStatusServer implements StatusServer {
  readonly name = 'status server';
  readonly #options: StatusServerOptions;
  #server: Server | undefined;

  constructor(options: StatusServerOptions) {
    this.#options = options;
  }

  get url(): string | undefined {
    return urlOf(this.#server, 'http');
  }

  async start(manager: Manager, logger: Logger): Promise<void> {
    const { port, host } = this.#options;
    const server = createServer((request, response) => {
      this.#answer(manager, logger, request, response).catch((err) => {
        logger.error({ err }, 'the status server could not answer');
        if (response.headersSent) response.destroy();
        else send(response, 500, 'internal server error\n');
      });
    });
    await listen(server, { port, host });
    server.on('error', (err) => logger.error({ err }, 'the status server failed'));
    this.#server = server;
    logger.info({ url: this.url }, 'the status server listens');
  }

  async stop(): Promise<void> {
    const server = this.#server;
    if (!server) return;
    this.#server = undefined;
    const closed = once(server, 'close');
    server.close();
    server.closeAllConnections();
    await closed;
  }

  async #answer(manager: Manager, logger: Logger, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { metrics } = this.#options;
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      response.setHeader('allow', 'GET, HEAD');
      return send(response, 405, 'only GET and HEAD\n');
    }
    const [path = '', query = ''] = (request.url ?? '').split('?', 2);
    if (metrics && path === '/metrics') {
      const { contentType, text } = await metrics.read();
      return send(response, 200, text, contentType);
    }
    const [, name = ''] = path.split('/');
    const checks = this.#checks(manager).get(name);
    if (!checks) return send(response, 404, 'not found\n');
    const onError = (check: string, err: unknown): void => logger.warn({ err, check }, `${name}: ${check} failed`);
    const remarks = (): readonly string[] => (name === 'readyz' ? clusterRemarks(manager.clusters()) : []);
    const signal = AbortSignal.timeout(CHECK_MS);
    const answer = await answerProbe({ name, checks, remarks, onError, signal }, path, new URLSearchParams(query));
    send(response, answer.status, answer.text);
  }

  #checks(manager: Manager): ReadonlyMap<string, readonly ProbeCheck[]> {
    const { health = [], ready = [] } = this.#options;
    const ping: ProbeCheck = { name: 'ping', check: () => undefined };
    const synced: ProbeCheck = { name: 'informer-sync', check: () => manager.whyNotReady().join('; ') || undefined };
    return new Map([
      ['healthz', [ping, ...health]],
      ['livez', [ping, ...health]],
      ['readyz', [ping, synced, ...ready]],
    ]);
  }
}

function send(response: ServerResponse, status: number, text: string, contentType = 'text/plain; charset=utf-8'): void {
  const headers = { 'content-type': contentType, 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' };
  response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(text) }).end(text);
}
