import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type Client, type Connection, createClient, createTransport, type HttpTransport } from '@asterism/client';
import { SERVICE_ACCOUNTS } from '@asterism/machinery';
import { ADMIN, ClusterPki, type User } from './cluster-pki.ts';
import {
  ADVERTISED_ADDRESS,
  apiServerArguments,
  type ControlPlaneLayout,
  type ControlPlanePorts,
  controllerManagerArguments,
  etcdArguments,
  schedulerArguments,
} from './control-plane-arguments.ts';
import { MEMBER_CONTROLLERS } from './control-plane-controllers.ts';
import { Daemon } from './daemon.ts';
import { freePort } from './free-port.ts';
import { writeKubeconfig } from './kubeconfig-file.ts';
import type { Lab } from './lab.ts';
import { requiredBinary } from './real-kubernetes.ts';
import type { RunFolder } from './run-folder.ts';
import { untilExists } from './until-exists.ts';

export interface ControlPlaneOptions {
  /** Also the name of its folder in the run's. */
  name: string;
  /** It stands in the lab's network and nowhere else; on loopback without one. */
  lab?: Lab | undefined;
  /**
   * For `--controllers` of kube-controller-manager, `serviceaccount` among them; `none`: it does not run. Default
   * {@link MEMBER_CONTROLLERS}.
   */
  controllers?: readonly string[] | 'none' | undefined;
  /** Whether a kube-scheduler runs too, as real nodes need it. Default false. */
  scheduler?: boolean | undefined;
  /** Whether etcd syncs its disk at each commit, which only a power cut would show. Default false. */
  fsync?: boolean | undefined;
  /** Further flags, `--name=value`; of a flag that is given twice the last counts, lists add up. */
  flags?: Partial<Record<Program, readonly string[]>> | undefined;
}

type Program = 'etcd' | 'apiServer' | 'controllerManager' | 'scheduler';

const BINARIES: Record<Program, string> = {
  etcd: 'etcd',
  apiServer: 'kube-apiserver',
  controllerManager: 'kube-controller-manager',
  scheduler: 'kube-scheduler',
};

/** What `unlessThere` must find for a control plane. */
export const CONTROL_PLANE_BINARIES = ['etcd', 'kube-apiserver', 'kube-controller-manager'] as const;

/** In a lab nobody else takes a port. */
const LAB_PORTS: ControlPlanePorts = { etcd: 2379, apiServer: 6443, controllerManager: 10_257, scheduler: 10_259 };

/**
 * A real Kubernetes control plane with an authority of its own: etcd, kube-apiserver, kube-controller-manager (and
 * kube-scheduler), each a {@link Daemon} that can be killed, frozen, and started again on the same data and ports.
 */
export class ControlPlane implements AsyncDisposable {
  readonly name: string;
  readonly folder: string;
  readonly pki: ClusterPki;
  /** As its administrator (`system:masters`), from where the test stands. */
  readonly connection: Connection;
  readonly client: Client;
  /** The address for whoever stands beside it: in the lab, or on loopback. */
  readonly server: string;
  readonly etcd: Daemon;
  readonly apiServer: Daemon;
  readonly controllerManager: Daemon | undefined;
  readonly scheduler: Daemon | undefined;
  readonly #transport: HttpTransport;

  private constructor(
    options: ControlPlaneOptions,
    folder: string,
    layout: ControlPlaneLayout,
    place: { outside: string; server: string; admin: Connection['credential'] },
  ) {
    this.name = options.name;
    this.folder = folder;
    this.pki = layout.pki;
    this.server = place.server;
    this.connection = { server: place.outside, caData: layout.pki.ca.cert, credential: place.admin };
    this.#transport = createTransport(this.connection);
    this.client = createClient({ transport: this.#transport, userAgent: 'test' });
    const daemon = (program: Program, args: readonly string[]): Daemon => {
      const command = [requiredBinary(BINARIES[program]), ...args];
      return new Daemon({
        name: `${BINARIES[program]} of ${options.name}`,
        command: options.lab ? options.lab.command(command) : command,
        log: join(folder, `${BINARIES[program]}.log`),
      });
    };
    const { flags = {}, controllers = MEMBER_CONTROLLERS } = options;
    this.etcd = daemon('etcd', [...etcdArguments(layout), ...(flags.etcd ?? [])]);
    this.apiServer = daemon('apiServer', [...apiServerArguments(layout), ...(flags.apiServer ?? [])]);
    this.controllerManager =
      controllers === 'none'
        ? undefined
        : daemon('controllerManager', [
            ...controllerManagerArguments(layout, controllers),
            ...(flags.controllerManager ?? []),
          ]);
    this.scheduler = options.scheduler
      ? daemon('scheduler', [...schedulerArguments(layout), ...(flags.scheduler ?? [])])
      : undefined;
  }

  /** Starts it. Resolves when the API server is ready, and the service account that a first pod needs is there. */
  static async start(run: RunFolder, options: ControlPlaneOptions): Promise<ControlPlane> {
    const controlPlane = await ControlPlane.prepare(run, options);
    try {
      await controlPlane.startAgain();
      const { client, daemons: needs } = controlPlane;
      const account = { namespace: 'default', name: 'default' };
      if (controlPlane.controllerManager) await untilExists(client, SERVICE_ACCOUNTS, account, () => true, { needs });
      return controlPlane;
    } catch (error) {
      await controlPlane[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** Writes its keys and files; nothing runs before {@link startAgain}. */
  static async prepare(run: RunFolder, options: ControlPlaneOptions): Promise<ControlPlane> {
    const { name, lab, fsync = false } = options;
    const folder = await run.folder(name);
    const pki = await ClusterPki.create(await run.folder(name, 'pki'), lab ? [ADVERTISED_ADDRESS] : []);
    const ports = lab ? LAB_PORTS : await freePorts();
    const bindAddress = lab ? ADVERTISED_ADDRESS : '127.0.0.1';
    const server = `https://${bindAddress}:${ports.apiServer}`;
    const outside = lab ? `https://127.0.0.1:${await lab.openWayIn(ports.apiServer)}` : server;
    const kubeconfigFor = async (component: string): Promise<string> => {
      const pair = await pki.issueClient(component, { commonName: `system:${component}` });
      const connection = { server, caData: pki.ca.cert, credential: { kind: 'certificate', ...pair } } as const;
      return await writeKubeconfig(join(folder, `${component}.kubeconfig`), connection);
    };
    const kubeconfig = {
      controllerManager: await kubeconfigFor('kube-controller-manager'),
      scheduler: await kubeconfigFor('kube-scheduler'),
    };
    const admin = { kind: 'certificate', ...(await pki.issueClient('admin', ADMIN)) } as const;
    const layout = { pki, dataDir: join(folder, 'etcd'), fsync, ports, bindAddress, kubeconfig };
    const controlPlane = new ControlPlane(options, folder, layout, { outside, server, admin });
    await writeKubeconfig(controlPlane.kubeconfig, controlPlane.connection);
    return controlPlane;
  }

  /** A kubeconfig of the administrator, for programs beside the test. */
  get kubeconfig(): string {
    return join(this.folder, 'admin.kubeconfig');
  }

  get daemons(): Daemon[] {
    const { etcd, apiServer, controllerManager, scheduler } = this;
    return [etcd, apiServer, controllerManager, scheduler].filter((daemon) => daemon !== undefined);
  }

  /** Starts what does not run. Resolves when it is ready, as {@link ready} does. */
  async startAgain(signal?: AbortSignal): Promise<void> {
    for (const daemon of [this.etcd, this.apiServer]) if (!daemon.running) await daemon.start();
    await this.ready(signal);
    for (const daemon of this.daemons) if (!daemon.running) await daemon.start();
  }

  /** Resolves when the API server says that it is ready; rejects when it ended, or `signal` aborts. */
  async ready(signal: AbortSignal = AbortSignal.timeout(60_000)): Promise<void> {
    for (;;) {
      const attempt = AbortSignal.any([signal, AbortSignal.timeout(2_000)]);
      const status = await this.#readiness(attempt).catch(() => undefined);
      if (status === 200) return;
      for (const daemon of [this.etcd, this.apiServer]) if (!daemon.running) throw await daemon.ended();
      if (signal.aborted) throw new Error(`the API server of ${this.name} is not ready`, { cause: signal.reason });
      // A server says nowhere that it became ready: it can only be asked.
      await delay(50);
    }
  }

  /** Somebody with a client certificate of its authority, as a connection from where the test stands. */
  async connectionAs(user: User): Promise<Connection> {
    const name = `user-${user.commonName.replaceAll(/[^\w.-]/g, '_')}`;
    return { ...this.connection, credential: { kind: 'certificate', ...(await this.pki.issueClient(name, user)) } };
  }

  async #readiness(signal: AbortSignal): Promise<number> {
    const { status, body } = await this.client.request({ method: 'GET', path: '/readyz', signal });
    body.destroy();
    return status;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#transport.close();
    await Promise.all(this.daemons.map((daemon) => daemon.kill()));
  }
}

async function freePorts(): Promise<ControlPlanePorts> {
  return {
    etcd: await freePort(),
    apiServer: await freePort(),
    controllerManager: await freePort(),
    scheduler: await freePort(),
  };
}
