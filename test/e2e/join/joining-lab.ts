import { X509Certificate } from 'node:crypto';
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startTestServer, type TestServer } from '@asterism/apiserver/testing';
import { type Client, type Connection, createClient, createTransport } from '@asterism/client';
import {
  AGENT_CREDENTIAL_SECRET,
  AGENT_SERVICE_ACCOUNT,
  CLUSTER_REGISTRATIONS,
  type ClusterRegistration,
  SYSTEM_NAMESPACE,
} from '@asterism/fleet/api';
import { memberManifests } from '@asterism/fleet/join';
import {
  CLUSTER_ROLE_BINDINGS,
  type ClusterRoleBinding,
  findCondition,
  type ResourceType,
  SECRETS,
} from '@asterism/machinery';
import { watchResource } from '@asterism/runtime';
import { connectionOf } from '../../cluster/connection-of.ts';
import { asterService, runAster } from '../../cluster/aster.ts';
import type { Daemon } from '../../cluster/daemon.ts';
import type { FleetHub } from '../../cluster/fleet-hub.ts';
import { Kubectl } from '../../cluster/kubectl.ts';
import { requiredBinary } from '../../cluster/real-kubernetes.ts';
import { RunFolder } from '../../cluster/run-folder.ts';

const PATIENCE_MS = 30_000;

/** In a member: whoever the hub knows. */
const EVERYBODY_LOOKS: ClusterRoleBinding = {
  metadata: { name: 'everybody-looks' },
  roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' },
  subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: 'system:authenticated' }],
};

/** A cluster with its agent, which is a process. */
export interface JoiningMember {
  name: string;
  server: TestServer;
  agent: Daemon;
  /** The file that the agent logs to. */
  log: string;
}

/** A hub in processes, its administrator's tools, and clusters that join it by `aster agent`. */
export class JoiningLab implements AsyncDisposable {
  readonly hub: FleetHub;
  readonly admin: Client;
  readonly kubectl: Kubectl;
  readonly #run: RunFolder;
  readonly #connection: Connection;
  readonly #parts: AsyncDisposableStack;
  #tokens = 0;

  private constructor(run: RunFolder, hub: FleetHub, connection: Connection, parts: AsyncDisposableStack) {
    this.#run = run;
    this.hub = hub;
    this.#connection = connection;
    this.#parts = parts;
    this.admin = this.client(connection);
    this.kubectl = new Kubectl(requiredBinary('kubectl-1.36'), hub.kubeconfig, run.path);
  }

  static async start(open: (run: RunFolder) => Promise<FleetHub>): Promise<JoiningLab> {
    await using parts = new AsyncDisposableStack();
    const run = parts.use(await RunFolder.open());
    const hub = parts.use(await open(run));
    const connection = await connectionOf(hub.kubeconfig);
    return new JoiningLab(run, hub, connection, parts.move());
  }

  /** A call of `aster` as the hub's administrator. */
  aster(...args: string[]): Promise<string> {
    return runAster(args, { KUBECONFIG: this.hub.kubeconfig });
  }

  client(connection: Connection): Client {
    return createClient({ transport: this.#parts.use(createTransport(connection)), userAgent: 'test' });
  }

  /** A member with the agent's manifests. */
  async member(): Promise<TestServer> {
    const server = this.#parts.use(await startTestServer());
    for (const object of memberManifests({ syncMode: 'Pull' })) {
      const found = await server.client.discovery.find(object.kind ?? '');
      await server.client.resource(found as ResourceType).apply(object, { fieldManager: 'test', force: true });
    }
    await server.client.resource(CLUSTER_ROLE_BINDINGS).create(EVERYBODY_LOOKS);
    return server;
  }

  /** Starts the agent of a new cluster, or of `server`. The token: `aster token create` with these flags, or itself. */
  async join(
    name: string,
    token: readonly string[] | { token: string } = [],
    { server, flags = [] }: { server?: TestServer; flags?: readonly string[] } = {},
  ): Promise<JoiningMember> {
    const member = server ?? (await this.member());
    this.#tokens += 1;
    const folder = await this.#run.folder(`agent-${name}-${this.#tokens}`);
    const file = (each: string): string => join(folder, each);
    const text = 'token' in token ? token.token : await this.aster('token', 'create', '-o', 'token', ...token);
    await writeFile(file('token'), text, { mode: 0o600 });
    await writeFile(file('hub-ca.crt'), this.#connection.caData ?? '');
    const account = {
      username: `system:serviceaccount:${SYSTEM_NAMESPACE}:${AGENT_SERVICE_ACCOUNT}`,
      groups: ['system:serviceaccounts', `system:serviceaccounts:${SYSTEM_NAMESPACE}`, 'system:authenticated'],
    };
    const kubeconfig = await member.kubeconfig(file('kubeconfig'), account);
    const hub = ['--hub', this.#connection.server, '--hub-ca', file('hub-ca.crt'), '--token-file', file('token')];
    const args = ['agent', '--kubeconfig', kubeconfig, '--name', name, '--mode', 'pull', ...hub, ...flags];
    const log = file('log');
    const agent = this.#parts.use(asterService({ name: `agent of ${name}`, args, log }));
    await agent.start();
    return { name, server: member, agent, log };
  }

  async ready({ name, agent }: JoiningMember): Promise<void> {
    await agent.printed(new RegExp(`^ready ${name}$`, 'm'), AbortSignal.timeout(PATIENCE_MS));
  }

  /** The registration for that name which waits for this reason, or was settled by it, as soon as there is one. */
  async registration(clusterName: string, reason: string): Promise<ClusterRegistration> {
    const signal = AbortSignal.timeout(PATIENCE_MS);
    const seen: string[] = [];
    for await (const event of watchResource(this.admin.resource(CLUSTER_REGISTRATIONS), { signal })) {
      if (event.type !== 'InitApply' && event.type !== 'Apply') continue;
      const { spec, status } = event.object;
      if (spec.clusterName !== clusterName) continue;
      const found = findCondition(status?.conditions, 'Complete')?.reason;
      if (found === reason) return event.object;
      seen.push(`${found}: ${status?.message}`);
    }
    throw new Error(`no registration for ${clusterName} came to ${reason}: ${seen.join('; ')}`);
  }

  async registrations(clusterName: string): Promise<ClusterRegistration[]> {
    const { items } = await this.admin.resource(CLUSTER_REGISTRATIONS).list();
    return items.filter(({ spec }) => spec.clusterName === clusterName);
  }

  /** What the agent keeps in its cluster. */
  async kept({ server }: JoiningMember): Promise<{ certificate: X509Certificate; client: Client }> {
    const ref = { namespace: SYSTEM_NAMESPACE, name: AGENT_CREDENTIAL_SECRET };
    const { data = {} } = await server.client.resource(SECRETS).get(ref);
    const text = (entry: string): string => Buffer.from(data[entry] ?? '', 'base64').toString();
    const credential = { kind: 'certificate' as const, cert: text('tls.crt'), key: text('tls.key') };
    const connection = { ...this.#connection, credential };
    return { certificate: new X509Certificate(credential.cert), client: this.client(connection) };
  }

  logOf({ log }: JoiningMember): Promise<string> {
    return readFile(log, 'utf8');
  }

  /** A folder in which `kubectl` is the kubectl of this version, for shell commands. */
  async pathWith(kubectl: string): Promise<string> {
    const folder = join(this.#run.path, `bin-${kubectl}`);
    await mkdir(folder, { recursive: true });
    await symlink(requiredBinary(kubectl), join(folder, 'kubectl'));
    return `${folder}:${process.env['PATH'] ?? ''}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#parts.disposeAsync();
  }
}
