import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { SYSTEM_NAMESPACE } from '@asterism/fleet/api';
import { asterService, runAster } from './aster.ts';
import { ControlPlane, type ControlPlaneOptions } from './control-plane.ts';
import { HUB_CONTROLLERS } from './control-plane-controllers.ts';
import type { Daemon } from './daemon.ts';
import type { FleetHub } from './fleet-hub.ts';
import { freePort } from './free-port.ts';
import { writeKubeconfig } from './kubeconfig-file.ts';
import { Kubectl } from './kubectl.ts';
import { requiredBinary } from './real-kubernetes.ts';
import type { RunFolder } from './run-folder.ts';

/** What `aster hub manifests` makes for the hub. */
const ACCOUNT = 'asterism-hub-host';

const RESTART_MS = 300;

/**
 * `aster hub --kubeconfig`: the hub on a real kube-apiserver with etcd, a control plane of its own, under the account that its
 * manifests make. Who calls it, calls the kube-apiserver alone. A hub process that ends is started again, as by a service manager.
 */
export class KubernetesHub implements FleetHub {
  readonly host: ControlPlane;
  readonly hub: Daemon;
  readonly #over = new AbortController();
  #supervision: Promise<void> | undefined;

  private constructor(host: ControlPlane, hub: Daemon) {
    this.host = host;
    this.hub = hub;
  }

  /** @param flags further flags of its programs. */
  static async start(run: RunFolder, flags: ControlPlaneOptions['flags'] = {}): Promise<KubernetesHub> {
    const host = await ControlPlane.start(run, { name: 'host', controllers: HUB_CONTROLLERS, flags });
    const kubectl = new Kubectl(requiredBinary('kubectl-1.36'), host.kubeconfig, host.folder);
    await kubectl.run(['apply', '-f', '-'], { stdin: await runAster(['hub', 'manifests']) });
    const token = await kubectl.run(['create', 'token', '-n', SYSTEM_NAMESPACE, ACCOUNT, '--duration=24h']);
    const credential = { kind: 'token', token: token.trim() } as const;
    const kubeconfig = await writeKubeconfig(join(host.folder, 'hub.kubeconfig'), { ...host.connection, credential });
    const where = ['--data-dir', join(host.folder, 'hub-data'), '--listen', `127.0.0.1:${await freePort()}`];
    const log = join(host.folder, 'hub.log');
    const args = ['hub', '--kubeconfig', kubeconfig, ...where];
    const hub = new KubernetesHub(host, asterService({ name: 'aster hub', args, log }));
    try {
      await hub.startAgain();
      hub.#supervision = hub.#supervise();
      return hub;
    } catch (error) {
      await hub[Symbol.asyncDispose]();
      throw error;
    }
  }

  get kubeconfig(): string {
    return this.host.kubeconfig;
  }

  get daemons(): readonly Daemon[] {
    return [this.hub, this.host.apiServer, this.host.etcd];
  }

  async startAgain(): Promise<void> {
    await this.host.startAgain();
    if (!this.hub.running) await this.hub.start();
    await this.hub.printed(/^leading$/m, AbortSignal.timeout(60_000));
  }

  async #supervise(): Promise<void> {
    const { signal } = this.#over;
    while (!signal.aborted) {
      await this.hub.exited();
      await delay(RESTART_MS);
      if (!signal.aborted && !this.hub.running) await this.hub.start();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#over.abort();
    await this.hub.kill();
    await this.#supervision;
    await this.host[Symbol.asyncDispose]();
  }
}
