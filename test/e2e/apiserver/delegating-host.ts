import { join } from 'node:path';
import {
  type ApiServerOptions,
  createApiServer,
  createCertificateAuthority,
  createDelegation,
  issueCertificate,
} from '@asterism/apiserver';
import { type Client, type Connection, createClient, createTransport, type HttpTransport } from '@asterism/client';
import { CLUSTER_ROLE_BINDINGS, CLUSTER_ROLES, type PolicyRule, ROLE_BINDINGS } from '@asterism/machinery';
import { ControlPlane } from '../../cluster/control-plane.ts';
import { writeKubeconfig } from '../../cluster/kubeconfig-file.ts';
import { Kubectl } from '../../cluster/kubectl.ts';
import { requiredBinary } from '../../cluster/real-kubernetes.ts';
import { RunFolder } from '../../cluster/run-folder.ts';

const RBAC = 'rbac.authorization.k8s.io';

/** A real control plane with an identity (`delegating`) for servers that ask it who callers are and what they may do. */
export class DelegatingHost {
  readonly run: RunFolder;
  readonly plane: ControlPlane;
  /** The identity of a server that delegates to the host. */
  readonly server: Client;
  readonly #transports: HttpTransport[] = [];

  private constructor(run: RunFolder, plane: ControlPlane, connection: Connection) {
    this.run = run;
    this.plane = plane;
    this.server = this.client(connection);
  }

  /** `flags`: further ones of its kube-apiserver. */
  static async start(flags: readonly string[] = []): Promise<DelegatingHost> {
    const run = await RunFolder.open();
    const plane = await ControlPlane.start(run, { name: 'host', flags: { apiServer: flags } });
    const connection = await plane.connectionAs({ commonName: 'delegating' });
    const host = new DelegatingHost(run, plane, connection);
    await host.bind('delegating', 'system:auth-delegator', { kind: 'User', name: 'delegating' });
    await plane.client.resource(ROLE_BINDINGS).create({
      metadata: { name: 'delegating', namespace: 'kube-system' },
      roleRef: { apiGroup: RBAC, kind: 'Role', name: 'extension-apiserver-authentication-reader' },
      subjects: [{ apiGroup: RBAC, kind: 'User', name: 'delegating' }],
    });
    return host;
  }

  client(connection: Connection): Client {
    const transport = createTransport(connection);
    this.#transports.push(transport);
    return createClient({ transport });
  }

  async bind(name: string, role: string, subject: { kind: string; name: string }): Promise<void> {
    await this.plane.client.resource(CLUSTER_ROLE_BINDINGS).create({
      metadata: { name },
      roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name: role },
      subjects: [{ apiGroup: RBAC, ...subject }],
    });
  }

  async allow(group: string, rule: PolicyRule): Promise<void> {
    await this.plane.client.resource(CLUSTER_ROLES).create({ metadata: { name: group }, rules: [rule] });
    await this.bind(group, group, { kind: 'Group', name: group });
  }

  async kubectl(name: string, connection: Connection, version = '1.36'): Promise<Kubectl> {
    const kubeconfig = await writeKubeconfig(join(this.run.path, `${name}.kubeconfig`), connection);
    return new Kubectl(requiredBinary(`kubectl-${version}`), kubeconfig, this.run.path);
  }

  async stop(): Promise<void> {
    await Promise.all(this.#transports.map((transport) => transport.close()));
    await this.plane[Symbol.asyncDispose]();
    await this.run[Symbol.asyncDispose]();
  }
}

/** A server of ours that does so. */
export interface Serving extends AsyncDisposable {
  url: string;
  port: number;
  /** PEM of what signed its certificate. */
  ca: string;
}

/** On loopback; `name` is what the host's aggregator calls it by. */
export async function serve(
  host: DelegatingHost,
  name: string,
  options: Omit<ApiServerOptions, 'delegation'>,
): Promise<Serving> {
  const delegation = await createDelegation({ client: host.server });
  const ca = await createCertificateAuthority({ commonName: 'serving-ca' });
  const tls = await issueCertificate(ca, {
    commonName: 'server',
    dnsNames: [name],
    ipAddresses: ['127.0.0.1'],
    usages: ['server'],
    days: 1,
  });
  const server = createApiServer({ ...options, delegation, listen: { host: '127.0.0.1', port: 0 }, tls });
  const { port, url } = await server.start();
  const stop = async (): Promise<void> => {
    await server.stop();
    await delegation[Symbol.asyncDispose]();
  };
  return { url, port, ca: ca.cert, [Symbol.asyncDispose]: stop };
}
