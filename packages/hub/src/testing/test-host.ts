import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createCertificateAuthority } from '@asterism/apiserver';
import { startTestServer, type TestServer } from '@asterism/apiserver/testing';
import { type Client, type Connection, createClient, createTransport } from '@asterism/client';
import { API_SERVICES, CONFIG_MAPS, findCondition } from '@asterism/machinery';
import { silentLogger, watchResource } from '@asterism/runtime';
import { createHubOnKubernetes, type HubOnKubernetes } from '../create-hub-on-kubernetes.ts';
import type { HubOnKubernetesOptions } from '../hub-options.ts';

/** A released Lease is seen at once. It never runs out here: a busy machine would make leaders fall. */
const TIMING = { retryPeriodMs: 50 };

/**
 * An API server that stands for a kube-apiserver, and hub processes on it. It aggregates nothing: what is registered is called
 * reachable and can be read, and the hub called directly.
 */
export class TestHost implements AsyncDisposable {
  readonly server: TestServer;
  readonly folder: string;
  /** What it says of APIs that are registered from now on. */
  reaches = true;
  readonly #parts = new AsyncDisposableStack();

  private constructor(server: TestServer, folder: string) {
    this.server = server;
    this.folder = folder;
    this.#parts.defer(() => rm(folder, { recursive: true, force: true }));
    this.#parts.use(server);
  }

  static async start(): Promise<TestHost> {
    const host = new TestHost(await startTestServer(), await mkdtemp(join(tmpdir(), 'asterism-host-')));
    await host.tellAuthorities();
    const ending = new AbortController();
    const calling = host.#callReachable(ending.signal);
    host.#parts.defer(async () => {
      ending.abort();
      await calling;
    });
    return host;
  }

  async #callReachable(signal: AbortSignal): Promise<void> {
    const apiServices = this.server.client.resource(API_SERVICES);
    for await (const event of watchResource(apiServices, { signal })) {
      if (event.type !== 'Apply' && event.type !== 'InitApply') continue;
      const { metadata, spec, status } = event.object;
      if (!spec?.service || findCondition(status?.conditions, 'Available')) continue;
      const said = this.reaches ? { status: 'True', reason: 'Passed' } : { status: 'False', message: 'no route' };
      const body = {
        status: { conditions: [{ type: 'Available', lastTransitionTime: '2026-01-01T00:00:00Z', ...said }] },
      };
      await apiServices.patch({ name: metadata?.name ?? '' }, { type: 'merge', body }, { subresource: 'status' });
    }
  }

  /** As a kube-apiserver tells servers behind it. */
  async tellAuthorities(): Promise<void> {
    const frontProxy = await createCertificateAuthority({ commonName: 'front-proxy' });
    await this.server.client.resource(CONFIG_MAPS).update({
      metadata: { namespace: 'kube-system', name: 'extension-apiserver-authentication' },
      data: {
        'client-ca-file': this.server.ca.cert,
        'requestheader-client-ca-file': frontProxy.cert,
        'requestheader-allowed-names': '["front-proxy-client"]',
        'requestheader-username-headers': '["X-Remote-User"]',
        'requestheader-group-headers': '["X-Remote-Group"]',
        'requestheader-extra-headers-prefix': '["X-Remote-Extra-"]',
      },
    });
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
