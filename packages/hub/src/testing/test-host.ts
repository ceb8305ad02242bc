import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createCertificateAuthority, issueCertificate } from '@asterism/apiserver';
import { startTestServer, type TestServer } from '@asterism/apiserver/testing';
import { type Client, type Connection, createClient, createTransport } from '@asterism/client';
import { silentLogger } from '@asterism/runtime';
import { createHubOnKubernetes, type HubOnKubernetes } from '../create-hub-on-kubernetes.ts';
import type { HubOnKubernetesOptions } from '../hub-options.ts';

/** A released Lease is seen at once. It never runs out here: a busy machine would make leaders fall. */
const TIMING = { retryPeriodMs: 50 };

/** The name in the certificate by which the host proves to servers behind it that it speaks for callers. */
const FRONT_PROXY = 'front-proxy-client';
/** Nobody listens there. */
const NOWHERE = { host: '127.0.0.1', port: 1 };

/** An API server that stands for a kube-apiserver, aggregates what registers with it, and has hub processes on it. */
export class TestHost implements AsyncDisposable {
  readonly server: TestServer;
  readonly folder: string;
  readonly #reach: { reaches: boolean };
  readonly #parts = new AsyncDisposableStack();

  private constructor(server: TestServer, folder: string, reach: { reaches: boolean }) {
    this.server = server;
    this.folder = folder;
    this.#reach = reach;
    this.#parts.defer(() => rm(folder, { recursive: true, force: true }));
    this.#parts.use(server);
  }

  static async start(): Promise<TestHost> {
    const ca = await createCertificateAuthority({ commonName: 'front-proxy' });
    const { cert, key } = await issueCertificate(ca, { commonName: FRONT_PROXY, usages: ['client'], days: 1 });
    const reach = { reaches: true };
    const server = await startTestServer({
      aggregation: {
        proxyClient: { cert, key, ca: ca.cert },
        resolve: () => (reach.reaches ? undefined : NOWHERE),
      },
    });
    return new TestHost(server, await mkdtemp(join(tmpdir(), 'asterism-host-')), reach);
  }

  /** Whether there is a way from the host to what registers with it. */
  set reaches(reaches: boolean) {
    this.#reach.reaches = reaches;
  }

  /** A hub that has not been started, with a data dir of that name. */
  hub(name: string, options: Partial<HubOnKubernetesOptions> = {}): HubOnKubernetes {
    const hub = createHubOnKubernetes({
      host: this.server.connection,
      dataDir: join(this.folder, name),
      listen: { host: '127.0.0.1', port: 0 },
      templates: 'host',
      identity: name,
      logger: silentLogger,
      ...options,
      timing: { ...TIMING, ...options.timing },
    });
    this.#parts.use(hub);
    return hub;
  }

  async leading(name: string, options: Partial<HubOnKubernetesOptions> = {}): Promise<HubOnKubernetes> {
    const hub = this.hub(name, options);
    await hub.start();
    await hub.leading;
    return hub;
  }

  /** Somebody whom the host knows by a token, at the hub itself. */
  at(hub: HubOnKubernetes, username: string, ...groups: string[]): Client {
    const token = this.server.tokenFor({ username, groups });
    return this.client({ server: hub.url, caData: hub.ca, credential: { kind: 'token', token } });
  }

  client(connection: Connection): Client {
    const transport = createTransport(connection);
    this.#parts.use(transport);
    return createClient({ transport });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#parts.disposeAsync();
  }
}
