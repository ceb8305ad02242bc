import { once } from 'node:events';
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { Agent, type RequestOptions, request as httpsRequest } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import { parseJson } from '@asterism/machinery';
import type { Manager } from '../../lifecycle/manager.ts';
import { RecordedLog } from '../../providers/testing/provider-trial.ts';
import { createWebhookServer, type WebhookServer, type WebhookServerOptions } from '../webhook-server.ts';
import { FIRST_PAIR, SECOND_PAIR } from './serving-pairs.ts';

/** What came back. */
export interface Answered {
  status: number;
  headers: IncomingHttpHeaders;
  body: Record<string, unknown>;
  /** Of the certificate that the server showed when the connection was opened. */
  commonName: string;
  socket: TLSSocket;
}

export interface Sent extends Omit<RequestOptions, 'headers'> {
  body?: string | Buffer;
  headers?: Record<string, string>;
}

/** A folder with a certificate and its key. */
export class ServingFolder implements AsyncDisposable {
  readonly path: string;

  static async create(): Promise<ServingFolder> {
    const folder = new ServingFolder(await mkdtemp(join(tmpdir(), 'runtime-webhooks-')));
    await folder.put(FIRST_PAIR);
    return folder;
  }

  private constructor(path: string) {
    this.path = path;
  }

  get files(): { certFile: string; keyFile: string } {
    return { certFile: join(this.path, 'tls.crt'), keyFile: join(this.path, 'tls.key') };
  }

  async put({ cert, key }: Partial<typeof FIRST_PAIR>): Promise<void> {
    if (cert !== undefined) await this.write('tls.crt', cert);
    if (key !== undefined) await this.write('tls.key', key);
  }

  /** Puts a whole file in the place of another. */
  async write(name: string, text: string): Promise<void> {
    await writeFile(join(this.path, `.${name}`), text);
    await rename(join(this.path, `.${name}`), join(this.path, name));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.path, { recursive: true });
  }
}

/** A webhook server on loopback, and a client that trusts both certificates of the tests. */
export class WebhookTrial implements AsyncDisposable {
  readonly folder: ServingFolder;
  readonly server: WebhookServer;
  readonly log = new RecordedLog();
  /** Keeps its connection. */
  readonly kept = new Agent({ keepAlive: true, maxSockets: 1 });

  static async start(options: Partial<WebhookServerOptions> = {}): Promise<WebhookTrial> {
    const trial = new WebhookTrial(await ServingFolder.create(), options);
    await trial.server.start(undefined as unknown as Manager, trial.log.logger);
    return trial;
  }

  private constructor(folder: ServingFolder, options: Partial<WebhookServerOptions>) {
    this.folder = folder;
    const given = { port: 0, host: '127.0.0.1', webhooks: [], rereadMs: 3_600_000 };
    this.server = createWebhookServer({ ...folder.files, ...given, ...options });
  }

  /** Rejects where nothing is answered. */
  send(path: string, sent: Sent = {}): Promise<Answered> {
    return sendTo(this.server.url ?? '', path, sent);
  }

  /** A review, as an API server posts it. */
  post(path: string, review: unknown, sent: Sent = {}): Promise<Answered> {
    return this.send(path, { body: JSON.stringify(review), ...sent });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.kept.destroy();
    await this.server.stop();
    await this.folder[Symbol.asyncDispose]();
  }
}

/** Posts JSON, unless `sent` says otherwise, over a connection of its own, unless that names an agent. */
export async function sendTo(url: string, path: string, { body = '', ...options }: Sent = {}): Promise<Answered> {
  const request = httpsRequest(url, {
    method: 'POST',
    path,
    ca: [FIRST_PAIR.cert, SECOND_PAIR.cert],
    agent: false,
    ...options,
    headers: { 'content-type': 'application/json', ...options.headers },
  });
  request.end(body);
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  const socket = response.socket as TLSSocket;
  const { subject } = socket.getPeerCertificate();
  let text = '';
  for await (const piece of response.setEncoding('utf8')) text += piece as string;
  const { statusCode: status = 0, headers } = response;
  const commonName = String(subject.CN);
  return { status, headers, body: parseJson(text || '{}') as Answered['body'], commonName, socket };
}
