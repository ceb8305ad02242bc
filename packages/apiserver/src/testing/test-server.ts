import { randomUUID } from 'node:crypto';
import { type Client, type Connection, createClient, createTransport } from '@asterism/client';
import { type ApiServer, createApiServer, createApiServerBehind } from '../api-server.ts';
import type { ApiServerOptions } from '../compose/api-server-options.ts';
import type { TokenUser } from '../contract/authenticator.ts';
import type { UserInfo } from '../contract/user-info.ts';
import { createCertificateAuthority, type KeyPair } from '../pki/certificate-authority.ts';
import { issueCertificate } from '../pki/issue-certificate.ts';
import { newPrivateKey } from '../pki/keys.ts';
import { createMemoryStorage } from '../storage/memory-storage.ts';
import { FaultBoard } from './fault-board.ts';
import type { Faults } from './faults.ts';
import { FaultyHandler } from './faulty-handler.ts';
import { ForgetfulStorage } from './forgetful-storage.ts';
import { type DefinitionSource, installDefinitions } from './install-definitions.ts';
import { TcpRelay } from './tcp-relay.ts';
import { grantRights, type TestUser, type TestUserOptions, writeKubeconfig } from './test-user.ts';

/**
 * What of the server differs from the default, and what is in it from the start.
 *
 * @example {@link startTestServer}
 */
export interface TestServerOptions<U extends string = string> extends Partial<ApiServerOptions> {
  /** Users by name, with what each may do. They are in {@link TestServer.users}. */
  users?: { readonly [Name in U]: TestUserOptions };
  /** Custom kinds; all are served when the server is there. */
  crds?: readonly DefinitionSource[];
  /** Whether the server can be made to misbehave: {@link FaultyTestServer.faults}. Default false. */
  faults?: boolean;
}

/**
 * A running API server, and the ways to it. It stops at the end of an `await using` block, or by `stop`.
 *
 * @example {@link startTestServer}
 */
export interface TestServer<U extends string = never> extends AsyncDisposable {
  readonly server: ApiServer;
  /** `https://127.0.0.1:PORT` */
  readonly url: string;
  /** PEM: signs the server's certificate, client certificates and approved signing requests. */
  readonly ca: KeyPair;
  /** As `admin` of `system:masters`. */
  readonly client: Client;
  /** The same within the process, not over the wire: what a test does itself, whatever befalls connections. */
  readonly inside: Client;
  readonly connection: Connection;
  /** Those of the option, by name. */
  readonly users: { readonly [Name in U]: TestUser };
  /** The same server as somebody else. */
  connectionAs(user: UserInfo): Connection;
  /** A client as somebody else; closed with the server. */
  clientAs(user: UserInfo): Client;
  /** A bearer token for any user, good for as long as the server runs. */
  tokenFor(user: UserInfo): string;
  /** Writes a kubeconfig for `admin`, or for another user, mode 0600. Returns its path. */
  kubeconfig(path: string, user?: UserInfo): Promise<string>;
  stop(): Promise<void>;
}

/**
 * A {@link TestServer} that can be made to misbehave.
 *
 * @example {@link startTestServer}
 */
export interface FaultyTestServer<U extends string = never> extends TestServer<U> {
  readonly faults: Faults;
}

const ADMIN: UserInfo = { username: 'admin', groups: ['system:masters'] };
const AUDIENCE = 'https://kubernetes.default.svc';
const ADDRESS = { host: '127.0.0.1', port: 0 };

/**
 * A real API server for tests: TLS on a free port of 127.0.0.1 with a CA of its own, storage in memory, service account and
 * bootstrap tokens on. Whatever `options` says goes before that.
 *
 * With `faults` a relay stands before it, on the address that is told, and what comes that way can be made to fail. Rejects, with
 * nothing left running, as `ApiServer.start` does, and where a user's rights or a custom kind cannot be created.
 *
 * @example
 * ```ts
 * await using server = await startTestServer({
 *   faults: true,
 *   crds: [new URL('../crd.yaml', import.meta.url)],
 *   users: { operator: { rules: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'list', 'watch'] }] } },
 * });
 * const manager = createManager({ client: server.users.operator.client, logger: silentLogger });
 * server.faults.inject({ kind: 'status', code: 429 }, { verb: 'list', resource: 'configmaps' });
 * await server.inside.resource(CONFIG_MAPS).create({ metadata: { namespace: 'default', name: 'a' } });
 * const { status } = await server.faults.requested({ verb: 'list', status: 429 });
 * ```
 */
export function startTestServer<U extends string = never>(
  options: TestServerOptions<U> & { faults: true },
): Promise<FaultyTestServer<U>>;
export function startTestServer<U extends string = never>(options?: TestServerOptions<U>): Promise<TestServer<U>>;
export async function startTestServer(given: TestServerOptions = {}): Promise<TestServer<string>> {
  const { users = {}, crds = [], faults = false, ...options } = given;
  const ca = await createCertificateAuthority({ commonName: 'test-ca' });
  const tls = await issueCertificate(ca, {
    commonName: 'kube-apiserver',
    dnsNames: ['localhost'],
    ipAddresses: ['127.0.0.1'],
    usages: ['server'],
    days: 1,
  });
  const tokens = new Map<string, TokenUser>();
  const all: ApiServerOptions = {
    storage: createMemoryStorage(),
    listen: ADDRESS,
    tls,
    clientCa: ca.cert,
    signer: ca,
    bootstrapTokens: true,
    serviceAccounts: { issuer: AUDIENCE, key: newPrivateKey() },
    ...options,
    tokenAuthenticators: [(token) => tokens.get(token), ...(options.tokenAuthenticators ?? [])],
  };
  const front = faults ? new FaultyFront(all, tokens) : new PlainFront(all);
  const audience = options.serviceAccounts?.issuer ?? AUDIENCE;
  const server = new RunningTestServer(front, await front.start(), { ca, tokens, audience });
  try {
    await Promise.all([installDefinitions(server.inside, crds), server.addUsers(users)]);
  } catch (error) {
    await server.stop();
    throw error;
  }
  return server;
}

/** What clients connect to. */
interface Front {
  readonly server: ApiServer;
  readonly faults?: Faults;
  /** Returns the URL. */
  start(): Promise<string>;
  stop(): Promise<void>;
}

class PlainFront implements Front {
  readonly server: ApiServer;

  constructor(options: ApiServerOptions) {
    this.server = createApiServer(options);
  }

  async start(): Promise<string> {
    return (await this.server.start()).url;
  }

  stop(): Promise<void> {
    return this.server.stop();
  }
}

class FaultyFront implements Front {
  readonly server: ApiServer;
  readonly faults: FaultBoard;
  readonly #relay = new TcpRelay();
  readonly #listen: { host: string; port: number };

  constructor(options: ApiServerOptions, tokens: ReadonlyMap<string, TokenUser>) {
    const storage = new ForgetfulStorage(options.storage ?? createMemoryStorage());
    this.faults = new FaultBoard({ relay: this.#relay, tokens, forget: () => storage.forget() });
    this.#listen = options.listen ?? ADDRESS;
    this.server = createApiServerBehind(
      { ...options, storage, listen: ADDRESS },
      (handler) => new FaultyHandler(handler, this.faults),
    );
  }

  async start(): Promise<string> {
    const { port } = await this.server.start();
    this.#relay.leadTo(port);
    try {
      const { host } = this.#listen;
      const told = await this.#relay.listen(this.#listen);
      return `https://${host.includes(':') ? `[${host}]` : host}:${told}`;
    } catch (error) {
      await this.server.stop();
      throw error;
    }
  }

  async stop(): Promise<void> {
    this.faults.end();
    await this.server.stop();
    await this.#relay.close();
  }
}

class RunningTestServer implements TestServer<string> {
  readonly server: ApiServer;
  readonly faults: Faults | undefined;
  readonly url: string;
  readonly ca: KeyPair;
  readonly client: Client;
  readonly inside: Client;
  readonly connection: Connection;
  readonly users: Record<string, TestUser> = {};
  readonly #front: Front;
  readonly #tokens: Map<string, TokenUser>;
  readonly #audience: string;
  readonly #clients: Client[] = [];

  constructor(
    front: Front,
    url: string,
    { ca, tokens, audience }: { ca: KeyPair; tokens: Map<string, TokenUser>; audience: string },
  ) {
    this.#front = front;
    this.server = front.server;
    this.faults = front.faults;
    this.url = url;
    this.ca = ca;
    this.#tokens = tokens;
    this.#audience = audience;
    this.connection = this.connectionAs(ADMIN);
    this.client = this.#open(this.connection);
    this.inside = createClient({ transport: this.server.transport(ADMIN), userAgent: 'test/1.0' });
    this.#clients.push(this.inside);
  }

  async addUsers(users: Readonly<Record<string, TestUserOptions>>): Promise<void> {
    await Promise.all(
      Object.entries(users).map(async ([username, { rules, clusterRole, namespace, groups = [], ...rest }]) => {
        await grantRights(this.inside, username, { rules, clusterRole, namespace });
        const connection = this.connectionAs({ ...rest, username, groups });
        const kubeconfig = (path: string): Promise<string> => writeKubeconfig(path, username, connection);
        this.users[username] = { username, connection, client: this.#open(connection), kubeconfig };
      }),
    );
  }

  connectionAs(user: UserInfo): Connection {
    return { server: this.url, caData: this.ca.cert, credential: { kind: 'token', token: this.tokenFor(user) } };
  }

  clientAs(user: UserInfo): Client {
    return this.#open(this.connectionAs(user));
  }

  tokenFor(user: UserInfo): string {
    const token = randomUUID();
    this.#tokens.set(token, { user, audiences: [this.#audience] });
    return token;
  }

  kubeconfig(path: string, user: UserInfo = ADMIN): Promise<string> {
    return writeKubeconfig(path, user.username, this.connectionAs(user));
  }

  async stop(): Promise<void> {
    await Promise.all(this.#clients.map(({ transport }) => transport.close()));
    await this.#front.stop();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  #open(connection: Connection): Client {
    const client = createClient({ transport: createTransport(connection), userAgent: 'test/1.0' });
    this.#clients.push(client);
    return client;
  }
}
