import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { createCertificateAuthority, issueCertificate, type KeyPair } from '@asterism/apiserver';
import { startTestServer, type TestServer } from '@asterism/apiserver/testing';
import {
  createManager,
  type Manager,
  createWebhookServer,
  silentLogger,
  type Webhook,
  type WebhookServer,
} from '@asterism/runtime';
import { RunFolder } from '../../cluster/run-folder.ts';

const CERT_FILE = 'tls.crt';
const KEY_FILE = 'tls.key';

/** Webhooks that a manager of the runtime serves, with a certificate in files that can be renewed. */
export class ServedWebhooks implements AsyncDisposable {
  readonly run: RunFolder;
  /** An API server of ours, which the manager runs on. */
  readonly own: TestServer;
  readonly #ca: KeyPair;
  readonly #server: WebhookServer;
  readonly #stop = new AbortController();
  readonly #stopped: Promise<void>;

  private constructor(
    run: RunFolder,
    ca: KeyPair,
    parts: { own: TestServer; server: WebhookServer; manager: Manager },
  ) {
    this.run = run;
    this.#ca = ca;
    this.own = parts.own;
    this.#server = parts.server;
    this.#stopped = parts.manager.start(this.#stop.signal);
    this.#stopped.catch(() => {});
  }

  static async start(webhooks: readonly Webhook[]): Promise<ServedWebhooks> {
    const run = await RunFolder.open();
    const ca = await createCertificateAuthority({ commonName: 'webhook-ca' });
    await issue(run, ca);
    const files = { certFile: join(run.path, CERT_FILE), keyFile: join(run.path, KEY_FILE) };
    const server = createWebhookServer({ ...files, port: 0, host: '127.0.0.1', webhooks });
    const own = await startTestServer({ controllers: false, admissionPlugins: { disable: ['ServiceAccount'] } });
    const manager = createManager({ client: own.client, logger: silentLogger, servers: [server] });
    const served = new ServedWebhooks(run, ca, { own, server, manager });
    await manager.ready();
    return served;
  }

  /** The `clientConfig` of a webhook at this path. */
  clientConfig(path: string): object {
    return { url: `${this.#server.url}${path}`, caBundle: Buffer.from(this.#ca.cert).toString('base64') };
  }

  /** Replaces the certificate, and resolves when the server shows the new one. */
  async renew(): Promise<void> {
    const serial = await issue(this.run, this.#ca);
    const { hostname: host, port } = new URL(this.#server.url ?? '');
    for (;;) {
      const socket = connect({ host, port: Number(port), ca: this.#ca.cert });
      await once(socket, 'secureConnect');
      const { serialNumber } = socket.getPeerCertificate();
      socket.destroy();
      if (serialNumber === serial) return;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#stopped;
    await this.own.stop();
    await this.run[Symbol.asyncDispose]();
  }
}

/** Writes a certificate and its key, and resolves with its serial number. */
async function issue(run: RunFolder, ca: KeyPair): Promise<string> {
  const subject = { commonName: 'webhooks', ipAddresses: ['127.0.0.1'], usages: ['server' as const], days: 1 };
  const { cert, key } = await issueCertificate(ca, subject);
  await writeFile(join(run.path, CERT_FILE), cert);
  await writeFile(join(run.path, KEY_FILE), key);
  return new X509Certificate(cert).serialNumber;
}
