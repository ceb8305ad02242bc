import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { type Client, type Connection, createClient, createTransport } from '@asterism/client';
import { type ApiServer, createApiServer } from '../api-server.ts';
import type { ApiServerOptions } from '../api-server-options.ts';
import type { TokenUser } from '../authentication/authenticator.ts';
import type { UserInfo } from '../authentication/user-info.ts';
import { createCertificateAuthority, type KeyPair } from '../pki/certificate-authority.ts';
import { issueCertificate } from '../pki/issue-certificate.ts';
import { newPrivateKey } from '../pki/keys.ts';
import { createMemoryStorage } from '../storage/memory-storage.ts';

export interface TestServer extends AsyncDisposable {
  readonly server: ApiServer;
  /** `https://127.0.0.1:PORT` */
  readonly url: string;
  /** PEM: signs the server's certificate, client certificates and approved signing requests. */
  readonly ca: KeyPair;
  /** As `admin` of `system:masters`. */
  readonly client: Client;
  readonly connection: Connection;
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

const ADMIN: UserInfo = { username: 'admin', groups: ['system:masters'] };
const AUDIENCE = 'https://kubernetes.default.svc';

/**
 * A real API server for tests: TLS on a free port of 127.0.0.1 with a CA of its own, storage in memory, service account and
 * bootstrap tokens on. Whatever `options` says goes before that.
 */
export async function startTestServer(options: Partial<ApiServerOptions> = {}): Promise<TestServer> {
  const ca = await createCertificateAuthority({ commonName: 'test-ca' });
  const tls = await issueCertificate(ca, {
    commonName: 'kube-apiserver',
    dnsNames: ['localhost'],
    ipAddresses: ['127.0.0.1'],
    usages: ['server'],
    days: 1,
  });
  const users = new Map<string, TokenUser>();
  const server = createApiServer({
    storage: createMemoryStorage(),
    listen: { host: '127.0.0.1', port: 0 },
    tls,
    clientCa: ca.cert,
    signer: ca,
    bootstrapTokens: true,
    serviceAccounts: { issuer: AUDIENCE, key: newPrivateKey() },
    ...options,
    tokenAuthenticators: [(token) => users.get(token), ...(options.tokenAuthenticators ?? [])],
  });
  const { url } = await server.start();
  return new RunningTestServer(server, url, ca, users, options.serviceAccounts?.issuer ?? AUDIENCE);
}

class RunningTestServer implements TestServer {
  readonly server: ApiServer;
  readonly url: string;
  readonly ca: KeyPair;
  readonly client: Client;
  readonly connection: Connection;
  readonly #users: Map<string, TokenUser>;
  readonly #audience: string;
  readonly #clients: Client[] = [];

  constructor(server: ApiServer, url: string, ca: KeyPair, users: Map<string, TokenUser>, audience: string) {
    this.server = server;
    this.url = url;
    this.ca = ca;
    this.#users = users;
    this.#audience = audience;
    this.connection = this.connectionAs(ADMIN);
    this.client = this.#open(this.connection);
  }

  connectionAs(user: UserInfo): Connection {
    return { server: this.url, caData: this.ca.cert, credential: { kind: 'token', token: this.tokenFor(user) } };
  }

  clientAs(user: UserInfo): Client {
    return this.#open(this.connectionAs(user));
  }

  tokenFor(user: UserInfo): string {
    const token = randomUUID();
    this.#users.set(token, { user, audiences: [this.#audience] });
    return token;
  }

  async kubeconfig(path: string, user: UserInfo = ADMIN): Promise<string> {
    const config = {
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [
        {
          name: 'test',
          cluster: { server: this.url, 'certificate-authority-data': Buffer.from(this.ca.cert).toString('base64') },
        },
      ],
      users: [{ name: user.username, user: { token: this.tokenFor(user) } }],
      contexts: [{ name: 'test', context: { cluster: 'test', user: user.username } }],
      'current-context': 'test',
    };
    await writeFile(path, JSON.stringify(config, null, 2), { mode: 0o600 });
    return path;
  }

  async stop(): Promise<void> {
    await Promise.all(this.#clients.map(({ transport }) => transport.close()));
    await this.server.stop();
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
