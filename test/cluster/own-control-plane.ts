import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type ApiServer, createApiServer, type ServerLogger } from '@asterism/apiserver';
import { type Client, type Connection, createClient, createTransport, type HttpTransport } from '@asterism/client';
import { ADMIN, ClusterPki } from './cluster-pki.ts';
import { controllerManagerArguments, schedulerArguments } from './control-plane-arguments.ts';
import { MEMBER_CONTROLLERS } from './control-plane-controllers.ts';
import { Daemon } from './daemon.ts';
import { freePort } from './free-port.ts';
import { writeKubeconfig } from './kubeconfig-file.ts';
import { servedAs } from './own-api-server.ts';
import { requiredBinary } from './real-kubernetes.ts';
import type { RunFolder } from './run-folder.ts';

export interface OwnControlPlaneOptions {
  /** Also the name of its folder in the run's. */
  name: string;
  /** What the controllers and the scheduler send, and ask for first. */
  contentType: 'application/json' | 'application/vnd.kubernetes.protobuf';
  /** Further flags of kube-controller-manager. */
  flags?: readonly string[];
}

/** Something that our server found worth telling an operator. */
export interface Complaint {
  level: 'warn' | 'error';
  message: string;
  fields: object;
}

/**
 * Our API server, none of its own controllers running, with the real kube-controller-manager and kube-scheduler before it:
 * elected by Leases, each controller under its own service account, RBAC on.
 */
export class OwnControlPlane implements AsyncDisposable {
  readonly client: Client;
  /** With the logs of its programs. */
  readonly folder: string;
  readonly pki: ClusterPki;
  /** What the server logged at `warn` and above. */
  readonly complaints: readonly Complaint[];
  /** The administrator's, for programs beside the test. */
  readonly kubeconfig: string;
  readonly controllerManager: Daemon;
  readonly scheduler: Daemon;
  readonly #server: ApiServer;
  readonly #transport: HttpTransport;

  private constructor(
    { contentType, flags = [] }: OwnControlPlaneOptions,
    place: { folder: string; pki: ClusterPki; ports: { controllerManager: number; scheduler: number } },
    server: { server: ApiServer; admin: Connection; complaints: readonly Complaint[] },
  ) {
    const { folder, pki, ports } = place;
    this.folder = folder;
    this.pki = pki;
    this.kubeconfig = kubeconfigOf(folder, 'admin');
    this.#server = server.server;
    this.complaints = server.complaints;
    this.#transport = createTransport(server.admin);
    this.client = createClient({ transport: this.#transport, userAgent: 'test' });
    const layout = {
      pki,
      ports,
      kubeconfig: {
        controllerManager: kubeconfigOf(folder, 'kube-controller-manager'),
        scheduler: kubeconfigOf(folder, 'kube-scheduler'),
      },
    };
    const common = ['--leader-elect=true', '--leader-elect-retry-period=500ms'];
    const daemon = (name: string, args: readonly string[]): Daemon =>
      new Daemon({ name, command: [requiredBinary(name), ...args, ...common], log: join(folder, `${name}.log`) });
    this.controllerManager = daemon('kube-controller-manager', [
      ...controllerManagerArguments(layout, MEMBER_CONTROLLERS),
      `--kube-api-content-type=${contentType}`,
      ...flags,
    ]);
    this.scheduler = daemon('kube-scheduler', [
      ...schedulerArguments(layout),
      `--kube-api-content-type=${contentType}`,
    ]);
  }

  /** Resolves when the server serves; the controllers are on their way. */
  static async start(run: RunFolder, options: OwnControlPlaneOptions): Promise<OwnControlPlane> {
    const folder = await run.folder(options.name);
    const pki = await ClusterPki.create(await run.folder(options.name, 'pki'), []);
    const complaints: Complaint[] = [];
    const server = createApiServer({
      ...(await servedAs(pki)),
      bootstrapTokens: true,
      serviceAccounts: {
        issuer: 'https://kubernetes.default.svc',
        key: await readFile(pki.file('service-account.key'), 'utf8'),
      },
      aggregation: {
        proxyClient: {
          cert: await readFile(pki.file('front-proxy-client.crt'), 'utf8'),
          key: await readFile(pki.file('front-proxy-client.key'), 'utf8'),
          ca: await readFile(pki.file('front-proxy-ca.crt'), 'utf8'),
        },
      },
      logger: collect(complaints),
    });
    const { url } = await server.start();
    const connectionAs = async (name: string, user: { commonName: string; organizations?: string[] }) => {
      const credential = { kind: 'certificate', ...(await pki.issueClient(name, user)) } as const;
      const connection: Connection = { server: url, caData: pki.ca.cert, credential };
      await writeKubeconfig(kubeconfigOf(folder, name), connection);
      return connection;
    };
    const admin = await connectionAs('admin', ADMIN);
    for (const component of ['kube-controller-manager', 'kube-scheduler']) {
      await connectionAs(component, { commonName: `system:${component}` });
    }
    const ports = { controllerManager: await freePort(), scheduler: await freePort() };
    const controlPlane = new OwnControlPlane(options, { folder, pki, ports }, { server, admin, complaints });
    try {
      await Promise.all([controlPlane.controllerManager.start(), controlPlane.scheduler.start()]);
    } catch (error) {
      await controlPlane[Symbol.asyncDispose]();
      throw error;
    }
    return controlPlane;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([this.controllerManager.kill(), this.scheduler.kill()]);
    await this.#transport.close();
    await this.#server.stop();
  }
}

function kubeconfigOf(folder: string, name: string): string {
  return join(folder, `${name}.kubeconfig`);
}

function collect(complaints: Complaint[]): ServerLogger {
  const at =
    (level: Complaint['level']) =>
    (fields: object, message: string): void => {
      complaints.push({ level, message, fields });
    };
  return { debug: () => {}, info: () => {}, warn: at('warn'), error: at('error') };
}
