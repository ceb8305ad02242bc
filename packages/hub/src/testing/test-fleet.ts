import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Agent, type AgentOptions, runAgent } from '@asterism/agent';
import { type ApiServerOptions, issueCertificate, type UserInfo } from '@asterism/apiserver';
import { startTestServer, type TestServer } from '@asterism/apiserver/testing';
import { type Client, type Connection, createClient, createTransport, readBody, withBasePath } from '@asterism/client';
import {
  AGENT_CREDENTIAL_SECRET,
  AGENT_SERVICE_ACCOUNT,
  API_VERSION,
  type Cluster,
  HUB_CONFIGURATION,
  HUB_CONFIGURATIONS,
  type HubConfiguration,
  memberProxyPath,
  SYSTEM_NAMESPACE,
} from '@asterism/fleet/api';
import { memberManifests } from '@asterism/fleet/join';
import { isStatusError, type KubeObject, type ResourceType, SECRETS } from '@asterism/machinery';
import { silentLogger, watchResource } from '@asterism/runtime';
import { createHub, type Hub } from '../create-hub.ts';
import type { HubOptions } from '../hub-options.ts';

type SyncMode = Cluster['spec']['syncMode'];

/** Times by which a test sees in milliseconds what takes seconds. */
export const FAST = { heartbeatMs: 60, statusPauseMs: 0, statusSettleMs: 5, retryMs: 20, retryCapMs: 100 };

/** The agent's service account, as the member's tokens name it. */
export const AGENT: UserInfo = {
  username: `system:serviceaccount:${SYSTEM_NAMESPACE}:${AGENT_SERVICE_ACCOUNT}`,
  groups: ['system:serviceaccounts', `system:serviceaccounts:${SYSTEM_NAMESPACE}`, 'system:authenticated'],
};

/** A hub in a directory of its own, members and agents, over real sockets. Everything ends, and is removed, with it. */
export class TestFleet implements AsyncDisposable {
  readonly dataDir: string;
  readonly #parts = new AsyncDisposableStack();
  #hub: Hub | undefined;

  private constructor(dataDir: string) {
    this.dataDir = dataDir;
    this.#parts.defer(() => rm(dataDir, { recursive: true, force: true }));
  }

  static async start(options: Partial<HubOptions> = {}): Promise<TestFleet> {
    const fleet = new TestFleet(await mkdtemp(join(tmpdir(), 'asterism-hub-')));
    try {
      await fleet.startHub(options);
    } catch (error) {
      await fleet[Symbol.asyncDispose]();
      throw error;
    }
    return fleet;
  }

  get hub(): Hub {
    if (!this.#hub) throw new Error('no hub was started');
    return this.#hub;
  }

  /** On the same data dir as any hub before; on its port too, if that is given. */
  async startHub(options: Partial<HubOptions> = {}): Promise<Hub> {
    const hub = createHub({
      dataDir: this.dataDir,
      listen: { host: '127.0.0.1', port: 0 },
      logger: silentLogger,
      ...options,
    });
    await hub.start();
    this.#hub = this.#parts.use(hub);
    return hub;
  }

  /** A member with the agent's manifests in it. */
  async startMember(syncMode: SyncMode = 'Pull', options: Partial<ApiServerOptions> = {}): Promise<TestServer> {
    const member = await startTestServer(options);
    this.#parts.use(member);
    await apply(member.client, memberManifests({ syncMode }));
    return member;
  }

  /** Begins to join; look at `ready` and `done` of what comes back. */
  join(member: TestServer, options: Partial<AgentOptions> & { token?: string } = {}): Agent {
    const { token, ...rest } = options;
    const agent = runAgent({
      clusterName: 'edge-1',
      syncMode: 'Pull',
      hub: { server: this.hub.url, ca: this.hub.caPin, token },
      member: member.connectionAs(AGENT),
      logger: silentLogger,
      timing: FAST,
      ...rest,
    });
    this.#parts.use(agent);
    return agent;
  }

  /** A client over the network; closed with the fleet. */
  client(connection: Connection): Client {
    const transport = createTransport(connection);
    this.#parts.use(transport);
    return createClient({ transport });
  }

  /** Somebody with a client certificate of the hub's authority. */
  async person(commonName: string, ...organizations: string[]): Promise<Client> {
    const read = (name: string): Promise<string> => readFile(join(this.dataDir, 'pki', name), 'utf8');
    const ca = { cert: await read('ca.crt'), key: await read('ca.key') };
    const { cert, key } = await issueCertificate(ca, { commonName, organizations, usages: ['client'], days: 1 });
    return this.client({ server: this.hub.url, caData: ca.cert, credential: { kind: 'certificate', cert, key } });
  }

  /** The agent of a member that has joined, as it calls the hub. */
  async agentOf(member: TestServer): Promise<Client> {
    const ref = { namespace: SYSTEM_NAMESPACE, name: AGENT_CREDENTIAL_SECRET };
    const { data = {} } = await member.client.resource(SECRETS).get(ref);
    const text = (entry: string): string => Buffer.from(data[entry] ?? '', 'base64').toString();
    const credential = { kind: 'certificate' as const, cert: text('tls.crt'), key: text('tls.key') };
    return this.client({ server: this.hub.url, caData: text('ca.crt'), credential });
  }

  /** The member's version, through the hub's proxy, as soon as its tunnel is there. */
  async reached(clusterName: string): Promise<{ version: string }> {
    const client = this.client(this.hub.adminConnection);
    const member = createClient({ transport: withBasePath(client.transport, memberProxyPath(clusterName)) });
    for (let tries = 0; ; tries += 1) {
      try {
        return { version: (await member.version()).gitVersion };
      } catch (error) {
        if (tries > 200 || !isStatusError(error, 'ServiceUnavailable')) throw error;
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#parts.disposeAsync();
  }
}

/** Creates objects of any kind. */
export async function apply(client: Client, objects: readonly KubeObject[]): Promise<void> {
  for (const object of objects) {
    await client.resource(await client.discovery.typeFor(object)).create(object);
  }
}

/** Makes what the hub goes by. */
export async function configure(client: Client, spec: HubConfiguration['spec']): Promise<void> {
  const metadata = { name: HUB_CONFIGURATION };
  await client
    .resource(HUB_CONFIGURATIONS)
    .create({ apiVersion: API_VERSION, kind: 'HubConfiguration', metadata, spec });
}

/** Watches a kind until some object is as wanted. */
export async function untilOne<T extends KubeObject>(
  client: Client,
  type: ResourceType<T>,
  wanted: (object: T) => boolean,
  { namespace, timeoutMs = 5_000 }: { namespace?: string; timeoutMs?: number } = {},
): Promise<T> {
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    for await (const event of watchResource(client.resource(type), { namespace, signal })) {
      if ((event.type === 'InitApply' || event.type === 'Apply') && wanted(event.object)) return event.object;
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  throw new Error(`no ${type.kind} became what was wanted`);
}

/** The status and body of a call, whatever it is. */
export async function call(
  client: Client,
  method: string,
  path: string,
  options: { body?: unknown; headers?: Record<string, string> } = {},
): Promise<{ status: number; body: string }> {
  const { body, headers = {} } = options;
  const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
  const response = await client.request({
    method,
    path,
    headers: { ...(body === undefined ? {} : { 'content-type': type }), ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: (await readBody(response.body, path)).toString() };
}
