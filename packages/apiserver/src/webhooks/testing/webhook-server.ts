import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { parseJson } from '@asterism/machinery';
import { createCertificateAuthority, type KeyPair } from '../../pki/certificate-authority.ts';
import { type CertificateSubject, issueCertificate } from '../../pki/issue-certificate.ts';

/** The request of an AdmissionReview, as far as tests look at it. */
export interface ReviewedRequest {
  uid: string;
  operation: string;
  name?: string;
  namespace?: string;
  subResource?: string;
  dryRun: boolean;
  kind: { group: string; version: string; kind: string };
  resource: { group: string; version: string; resource: string };
  requestKind: { group: string; version: string; kind: string };
  requestResource: { group: string; version: string; resource: string };
  object: ReviewedObject | null;
  oldObject: ReviewedObject | null;
  options: { kind?: string } | null;
  userInfo: { username: string };
}

export interface ReviewedObject {
  apiVersion?: string;
  kind?: string;
  metadata?: { name?: string; labels?: Record<string, string>; annotations?: Record<string, string>; uid?: string };
  [field: string]: unknown;
}

/** Answers one request: with the fields of a `response`, or in any way it likes. */
export type WebhookBehaviour = (
  request: ReviewedRequest,
  answer: ServerResponse,
) => Record<string, unknown> | undefined | Promise<Record<string, unknown> | undefined>;

/** A webhook over HTTPS on loopback, that does by path what it is told. */
export class WebhookServer implements AsyncDisposable {
  readonly ca: KeyPair;
  readonly pair: KeyPair;
  /** Of all requests, in their order. */
  readonly asked: { path: string; request: ReviewedRequest; port: number }[] = [];
  readonly #server: Server;
  readonly #behaviours = new Map<string, WebhookBehaviour>();

  static async start(subject: Partial<CertificateSubject> = {}): Promise<WebhookServer> {
    const ca = await createCertificateAuthority({ commonName: 'webhook-ca' });
    const names = { commonName: 'webhook', ipAddresses: ['127.0.0.1'], usages: ['server' as const], ...subject };
    const server = new WebhookServer(ca, await issueCertificate(ca, { ...names, days: 1 }));
    server.#server.listen(0, '127.0.0.1');
    await once(server.#server, 'listening');
    return server;
  }

  private constructor(ca: KeyPair, pair: KeyPair) {
    this.ca = ca;
    this.pair = pair;
    this.#server = createServer({ cert: pair.cert, key: pair.key }, (request, answer) => {
      void (async () => {
        const pieces: Buffer[] = [];
        for await (const piece of request as AsyncIterable<Buffer>) pieces.push(piece);
        const path = (request.url ?? '').split('?')[0]!;
        const review = parseJson(Buffer.concat(pieces).toString()) as { apiVersion: string; request: ReviewedRequest };
        this.asked.push({ path, request: review.request, port: request.socket.remotePort ?? 0 });
        const response = await this.#behaviours.get(path)?.(review.request, answer);
        if (response === undefined) return;
        answer.setHeader('content-type', 'application/json');
        const { apiVersion } = review;
        const uid = review.request.uid;
        answer.end(JSON.stringify({ apiVersion, kind: 'AdmissionReview', response: { uid, ...response } }));
      })().catch(() => answer.destroy());
    });
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get caBundle(): string {
    return Buffer.from(this.ca.cert).toString('base64');
  }

  on(path: string, behaviour: WebhookBehaviour): void {
    this.#behaviours.set(path, behaviour);
  }

  url(path: string): string {
    return `https://127.0.0.1:${this.port}${path}`;
  }

  /** One webhook for a configuration, of ConfigMaps where nothing else is said. */
  webhook(path: string, more: Record<string, unknown> = {}): Record<string, unknown> {
    return {
      name: `${path.slice(1)}.example.com`,
      clientConfig: { url: this.url(path), caBundle: this.caBundle },
      rules: [{ operations: ['*'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] }],
      admissionReviewVersions: ['v1'],
      sideEffects: 'None',
      timeoutSeconds: 10,
      ...more,
    };
  }

  /** The names of those that were asked since the last look, by path. */
  take(): string[] {
    return this.asked.splice(0).map(({ path }) => path);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }
}

/** A JSON patch as a response carries it. */
export function patchOf(...operations: object[]): Record<string, unknown> {
  const patch = Buffer.from(JSON.stringify(operations)).toString('base64');
  return { allowed: true, patchType: 'JSONPatch', patch };
}
