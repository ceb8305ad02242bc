import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { Duplex } from 'node:stream';
import { type Clock, systemClock, trustAnchorsOnServer, unlessAborted } from '@asterism/client';
import { failure, isGoDuration, isStatusError, parseGoDuration, type StatusError } from '@asterism/machinery';
import type { ProbeCheck } from '../health/answer-probe.ts';
import { LinkedAbort } from '../waiting/linked-abort.ts';
import { listen, urlOf } from '../health/listen.ts';
import type { Logger } from '../log/logger.ts';
import type { ManagedServer, Manager } from '../lifecycle/manager.ts';
import type { Instruments } from '../instruments/instruments.ts';
import { isPanic } from '../controller/is-panic.ts';
import { receiveReview } from './receive-review.ts';
import { ServingCertificate } from './serving-certificate.ts';
import type { ServingFiles } from './serving-files.ts';
import { HandlerError, type Webhook } from './webhook.ts';

/**
 * Where a webhook server listens, with which certificate, and what it answers.
 *
 * @example {@link createWebhookServer}
 */
export interface WebhookServerOptions extends ServingFiles {
  /** Default 9443; 0 takes a free one. */
  port?: number | undefined;
  /** The address to listen on. Default: all, since API servers stand elsewhere. */
  host?: string | undefined;
  webhooks: readonly Webhook[];
  /** Of a review. Default 16 MiB: one has two objects of at most 3 MiB, or, to be converted, a page of a list. */
  maxBodyBytes?: number | undefined;
  /** How long reviews that are being answered may take to end when the server stops, ms. Default 10 s. */
  drainMs?: number | undefined;
  /** How often the files are read where no change is told, ms. Default 30 s. */
  rereadMs?: number | undefined;
  /** Told of reviews and certificates: the same as the manager's. */
  metrics?: Pick<Instruments, 'webhooks'> | undefined;
  clock?: Clock | undefined;
}

/**
 * A server that answers the reviews of API servers.
 *
 * @example {@link createWebhookServer}
 */
export interface WebhookServer extends ManagedServer {
  /** `https://host:port`, for as long as it listens; undefined before and after. */
  readonly url: string | undefined;
  /** For `ready` of `createStatusServer`: whether it listens, with a certificate that is still good. */
  readonly check: ProbeCheck;
}

const PORT = 9443;
const MAX_BODY_BYTES = 16 * 1024 * 1024;
const DRAIN_MS = 10_000;
const REREAD_MS = 30_000;
/** How long an API server waits where it does not say, and at most: the default and the limit of `timeoutSeconds`. */
const ANSWER_MS = 10_000;
const MAX_ANSWER_MS = 30_000;
/** For all of a request to arrive. */
const RECEIVE_MS = 30_000;
const HANDSHAKE_MS = 10_000;
/** API servers keep connections for 90 s: were ours shorter, a review would meet one that is just being closed, and fail. */
const KEEP_ALIVE_MS = 120_000;

/**
 * Serves webhooks over HTTPS (TLS 1.2 and 1.3), in a standby too.
 *
 * W1 Files that change are used for the next connection; those that are open stay. Files that cannot be used are logged, and
 *    what was used before stays.
 * W2 What is no review of its path is answered with a `Status` that says why (400, 404, 405, 413, 415): for the API server a
 *    failed call, so the `failurePolicy` counts, as it does where a handler throws (500) or takes too long (504).
 * W3 When it stops, it takes no new connections, and ends what it answers for `drainMs`.
 *
 * Throws where a path is there twice, or does not begin with `/`.
 *
 * @example
 * ```ts
 * const webhooks = createWebhookServer({
 *   certFile: '/tmp/k8s-webhook-server/serving-certs/tls.crt',
 *   keyFile: '/tmp/k8s-webhook-server/serving-certs/tls.key',
 *   webhooks: [createValidatingWebhook({ type: DEPLOYMENTS, validate })],
 * });
 * const status = createStatusServer({ port: 8081, ready: [webhooks.check] });
 * createManager({ client, logger, servers: [status, webhooks] });
 * ```
 */
export function createWebhookServer(options: WebhookServerOptions): WebhookServer {
  return new HttpsWebhookServer(options);
}

class HttpsWebhookServer implements WebhookServer {
  readonly name = 'webhook server';
  readonly check: ProbeCheck = { name: 'webhooks', check: () => this.#whyNotReady() };
  readonly #options: WebhookServerOptions;
  readonly #clock: Clock;
  readonly #webhooks = new Map<string, Webhook>();
  readonly #stopping = new AbortController();
  #certificate: ServingCertificate | undefined;
  #server: Server | undefined;
  #following: Promise<void> | undefined;
  readonly #drained = Promise.withResolvers<void>();
  /** Connections as they came, in their handshake too. */
  readonly #sockets = new Set<Duplex>();
  /** How many requests have come whose answers have not gone. */
  #answering = 0;

  constructor(options: WebhookServerOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    for (const webhook of options.webhooks) {
      const { path } = webhook;
      if (!/^\/[^?#]*$/.test(path)) throw new Error(`the webhook path ${JSON.stringify(path)} is no path`);
      if (this.#webhooks.has(path)) throw new Error(`two webhooks have the path ${path}`);
      this.#webhooks.set(path, webhook);
    }
  }

  get url(): string | undefined {
    return urlOf(this.#server, 'https');
  }

  async start(_manager: Manager, logger: Logger): Promise<void> {
    const { port = PORT, host, rereadMs = REREAD_MS, clientCaFile } = this.#options;
    const certificate = await ServingCertificate.load(this.#options, { logger, metrics: this.#options.metrics });
    const isAsked = clientCaFile !== undefined;
    const server = createServer(
      {
        ...certificate.options,
        minVersion: 'TLSv1.2',
        requestCert: isAsked,
        rejectUnauthorized: isAsked,
        handshakeTimeout: HANDSHAKE_MS,
        requestTimeout: RECEIVE_MS,
        keepAliveTimeout: KEEP_ALIVE_MS,
      },
      (request, response) => void this.#serve(request, response, logger),
    );
    trustAnchorsOnServer(server);
    server.on('connection', (socket) => {
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
    });
    server.on('tlsClientError', (err) => logger.debug({ err }, 'a connection to the webhook server failed'));
    await listen(server, { port, host });
    server.on('error', (err) => logger.error({ err }, 'the webhook server failed'));
    this.#server = server;
    this.#certificate = certificate;
    const { signal } = this.#stopping;
    const onChange = (): void => {
      server.setSecureContext({ ...certificate.options, minVersion: 'TLSv1.2' });
      trustAnchorsOnServer(server);
    };
    this.#following = certificate.follow({ onChange, rereadMs, clock: this.#clock, signal });
    logger.info({ url: this.url }, 'the webhook server listens');
  }

  async stop(): Promise<void> {
    const server = this.#server;
    if (!server) return;
    this.#server = undefined;
    const closed = once(server, 'close');
    server.close();
    this.#drainIfDone();
    const cancel = this.#clock.setTimer(() => this.#drained.resolve(), this.#options.drainMs ?? DRAIN_MS);
    await this.#drained.promise;
    cancel();
    this.#stopping.abort(new Error('the webhook server stops'));
    // Among them those that API servers opened in advance: nothing else would end them soon.
    for (const socket of this.#sockets) socket.destroy();
    await closed;
    await this.#following;
  }

  #drainIfDone(): void {
    if (!this.#server && this.#answering === 0) this.#drained.resolve();
  }

  #whyNotReady(): string | undefined {
    if (!this.#server || !this.#certificate) return 'the webhook server does not listen';
    const { notAfter } = this.#certificate;
    if (notAfter > this.#clock.wall().getTime()) return undefined;
    return `the certificate ended at ${new Date(notAfter).toISOString()}`;
  }

  async #serve(request: IncomingMessage, response: ServerResponse, logger: Logger): Promise<void> {
    this.#answering++;
    response.once('close', () => {
      this.#answering--;
      this.#drainIfDone();
    });
    const [path = '', query = ''] = (request.url ?? '').split('?', 2);
    const ofPath = logger.child({ webhook: path });
    let answered: ((status: number | undefined) => void) | undefined;
    try {
      const webhook = this.#find(request, response, path);
      answered = this.#options.metrics?.webhooks.asked(path);
      using gone = new LinkedAbort(this.#stopping.signal);
      response.once('close', () => gone.abort(new Error('the API server does not wait any more')));
      const answer = await this.#answer(webhook, request, { gone, waits: waitOf(query), logger: ofPath });
      this.#send(response, 200, answer, answered);
    } catch (error) {
      if (response.destroyed) {
        answered?.(undefined);
        return ofPath.warn({ err: error }, 'the API server did not wait for the answer of a webhook');
      }
      const { status } = this.#describeFailure(error, ofPath);
      this.#send(response, status.code ?? 500, status, answered);
    }
  }

  #find(request: IncomingMessage, response: ServerResponse, path: string): Webhook {
    const webhook = this.#webhooks.get(path);
    if (!webhook) throw failure(404, 'there is no webhook at this path');
    if (request.method === 'POST') return webhook;
    response.setHeader('allow', 'POST');
    throw failure(405, 'webhooks take POST alone');
  }

  async #answer(
    webhook: Webhook,
    request: IncomingMessage,
    { gone, waits, logger }: { gone: LinkedAbort; waits: number; logger: Logger },
  ): Promise<object> {
    const end = (): void => gone.abort(failure(504, `there was no answer within ${waits / 1000} s`));
    const cancel = this.#clock.setTimer(end, waits);
    const answer = async (): Promise<object> => {
      const review = await receiveReview(request, this.#options.maxBodyBytes ?? MAX_BODY_BYTES);
      return await webhook.answer(review, { signal: gone.signal, logger });
    };
    try {
      return await unlessAborted(answer(), gone.signal);
    } finally {
      cancel();
    }
  }

  #send(response: ServerResponse, status: number, body: object, answered?: (status: number | undefined) => void): void {
    answered?.(response.destroyed ? undefined : status);
    if (response.destroyed) return;
    const text = JSON.stringify(body);
    if (!this.#server) response.setHeader('connection', 'close');
    const headers = { 'content-type': 'application/json', 'x-content-type-options': 'nosniff' };
    response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(text) }).end(text);
  }

  /** What is told of an error. What failed within is for the log alone: it could say anything. */
  #describeFailure(error: unknown, logger: Logger): StatusError {
    if (isStatusError(error)) {
      logger.warn({ code: error.code, why: error.message }, 'a review got no answer');
      return error;
    }
    if (error instanceof HandlerError) {
      if (isPanic(error.cause)) this.#options.metrics?.webhooks.panicked();
      logger.error({ ...error.about, uid: error.uid, err: error.cause }, 'a webhook failed');
      return failure(500, `the webhook failed; its log says why, with uid ${error.uid}`);
    }
    logger.error({ err: error }, 'the webhook server could not answer');
    return failure(500, 'the webhook server failed; its log says why');
  }
}

/** How long the API server waits, ms: it says so in its URL, as `?timeout=10s`. */
function waitOf(query: string): number {
  const timeout = new URLSearchParams(query).get('timeout') ?? '';
  const told = isGoDuration(timeout) ? parseGoDuration(timeout) / 1e6 : 0;
  return told > 0 ? Math.min(told, MAX_ANSWER_MS) : ANSWER_MS;
}
