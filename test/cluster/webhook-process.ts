import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { createCertificateAuthority, issueCertificate, type KeyPair } from '@asterism/apiserver';
import { createTransport } from '@asterism/client';

const PROGRAM = fileURLToPath(new URL('webhook-program.ts', import.meta.url));

/** A webhook in a process of its own. */
export class WebhookProcess {
  readonly ca: KeyPair;
  readonly port: number;
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess, ca: KeyPair, port: number) {
    this.#child = child;
    this.ca = ca;
    this.port = port;
  }

  static async start(addresses: string[], dnsNames: string[] = []): Promise<WebhookProcess> {
    const ca = await createCertificateAuthority({ commonName: 'webhook-ca' });
    const subject = { commonName: 'webhook', ipAddresses: addresses, dnsNames, usages: ['server' as const], days: 1 };
    const { cert, key } = await issueCertificate(ca, subject);
    const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', PROGRAM], {
      env: { ...process.env, CERT: cert, KEY: key },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const [line] = (await once(createInterface(child.stdout!), 'line')) as [string];
    return new WebhookProcess(child, ca, Number(line));
  }

  async asked(): Promise<{ path: string; review: { request: Record<string, unknown> } }[]> {
    const transport = createTransport({
      server: `https://127.0.0.1:${this.port}`,
      caData: this.ca.cert,
      credential: { kind: 'none' },
    });
    const { body } = await transport.request({ method: 'GET', path: '/asked' });
    const text = (await body.toArray()).join('');
    await transport.close();
    return JSON.parse(text) as Awaited<ReturnType<WebhookProcess['asked']>>;
  }

  async stop(): Promise<void> {
    this.#child.stdin?.end();
    if (this.#child.exitCode === null) await once(this.#child, 'exit');
  }
}
