import { Buffer } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { Agent, type RequestOptions, request as httpsRequest } from 'node:https';
import { isIP } from 'node:net';
import { checkJson, READ_LIMITS, readBody, trustAnchors } from '@asterism/client';
import type { WebhookClientConfig } from '@asterism/machinery';
import type { ServiceResolver } from './resolve-service.ts';
import { describeTransportFault } from './transport-fault.ts';

/** As many clients as upstream remembers. */
const MAX_CLIENTS = 200;
const IDLE_CONNECTIONS = 25;
const IDLE_MS = 90_000;

/** An answer with its whole body. */
export interface WebhookResponse {
  status: number;
  contentType: string;
  body: string;
}

/** Nothing was answered; the message says why, with the URL, in the words of Go's client. */
export class TransportFault extends Error {
  override readonly name = 'TransportFault';
}

/**
 * Calls webhooks over HTTP/1.1 with connections that are kept, each by its own trust: HTTPS alone, no redirects, no proxy.
 * A webhook behind a Service is known by the name `SERVICE.NAMESPACE.svc`, wherever its address is.
 */
export class WebhookClient {
  readonly #resolve: ServiceResolver;
  readonly #agents = new Map<string, Agent>();

  constructor(resolve: ServiceResolver) {
    this.#resolve = resolve;
  }

  /** Posts JSON. Rejects with a {@link TransportFault}, also where `signal` ends it, or where more than 16 MiB are answered. */
  async post(
    config: WebhookClientConfig,
    body: string,
    { timeoutSeconds, signal }: { timeoutSeconds: number; signal: AbortSignal },
  ): Promise<WebhookResponse> {
    const url = urlOf(config);
    url.searchParams.set('timeout', `${timeoutSeconds}s`);
    const bytes = Buffer.from(body);
    try {
      const options = await this.#optionsFor(config, url);
      const exchange = { ...options, signal, headers: headersFor(url, bytes) };
      return await send(exchange, bytes);
    } catch (error) {
      const why = signal.aborted ? 'context deadline exceeded' : describeTransportFault(error);
      throw new TransportFault(`Post ${JSON.stringify(shownUrl(config, url))}: ${why}`, { cause: error });
    }
  }

  /** Ends all connections that nobody uses; calls end by their signals. */
  close(): void {
    for (const agent of this.#agents.values()) agent.destroy();
    this.#agents.clear();
  }

  async #optionsFor(config: WebhookClientConfig, url: URL): Promise<RequestOptions> {
    const { service, caBundle } = config;
    const named = { host: url.hostname.replace(/^\[|\]$/g, ''), port: Number(url.port || 443) };
    const { host, port } = service ? await this.#resolve({ ...service, port: named.port }) : named;
    return {
      agent: this.#agentFor(config, url),
      method: 'POST',
      host,
      port,
      path: `${url.pathname}${url.search}`,
      ...(isIP(named.host) === 0 ? { servername: named.host } : {}),
      ...trustAnchors(caBundle ? Buffer.from(caBundle, 'base64') : undefined),
    };
  }

  #agentFor(config: WebhookClientConfig, url: URL): Agent {
    const key = `${url.host} ${config.caBundle ?? ''}`;
    const known = this.#agents.get(key);
    const agent = known ?? new Agent({ keepAlive: true, maxFreeSockets: IDLE_CONNECTIONS, timeout: IDLE_MS });
    // The last used one stands last: the first has not been used for longest.
    this.#agents.delete(key);
    this.#agents.set(key, agent);
    const [oldest] = this.#agents;
    if (this.#agents.size > MAX_CLIENTS && oldest) {
      this.#agents.delete(oldest[0]);
      oldest[1].destroy();
    }
    return agent;
  }
}

function urlOf({ url, service }: WebhookClientConfig): URL {
  if (!service) return new URL(url ?? '');
  const { name, namespace, path = '', port = 443 } = service;
  const result = new URL(`https://${name}.${namespace}.svc:${port}`);
  result.pathname = path;
  return result;
}

/** A Service is shown with its port, whatever that is. */
function shownUrl({ service }: WebhookClientConfig, { href, hostname, port, pathname, search }: URL): string {
  return service ? `https://${hostname}:${port || 443}${pathname}${search}` : href;
}

function headersFor(url: URL, { length }: Buffer): Record<string, string> {
  return {
    host: url.host,
    accept: 'application/json, */*',
    'content-type': 'application/json',
    'content-length': String(length),
    'user-agent': 'kube-apiserver-admission',
  };
}

/** Once: a webhook that was asked and did not answer may have done something. */
async function send(options: RequestOptions, body: Buffer): Promise<WebhookResponse> {
  const { promise, resolve, reject } = Promise.withResolvers<WebhookResponse>();
  const request = httpsRequest(options, (response) => {
    readText(response, options).then(
      (text) => {
        const { statusCode = 0, headers } = response;
        resolve({ status: statusCode, contentType: headers['content-type'] ?? '', body: text });
      },
      (error: unknown) => {
        request.destroy();
        reject(error);
      },
    );
  });
  request.on('error', reject);
  request.end(body);
  return await promise;
}

/** Less than the limits for webhooks allow. What is no JSON passes: its status may say why. */
async function readText(response: IncomingMessage, { host, port }: RequestOptions): Promise<string> {
  const limits = READ_LIMITS.webhook;
  const source = `${host}:${port}`;
  const bytes = await readBody(response, source, { limits });
  checkJson(bytes, source, limits);
  return bytes.toString('utf8');
}
