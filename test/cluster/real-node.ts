import { execFile } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { isConditionTrue, type Node, NODES } from '@asterism/machinery';
import { Cgroups, hierarchies } from './cgroups.ts';
import type { ControlPlane } from './control-plane.ts';
import { Daemon, type DaemonOptions } from './daemon.ts';
import { listenAsDocker } from './fake-docker.ts';
import { kubeletArguments, type NodeFiles, type NodePlan, writeNodeFiles } from './kubelet-files.ts';
import { writeKubeconfig } from './kubeconfig-file.ts';
import { LAB_NETWORK, type Lab } from './lab.ts';
import { nodeAssets } from './node-assets.ts';
import { requiredBinary } from './real-kubernetes.ts';
import type { RunFolder } from './run-folder.ts';
import { untilExists } from './until-exists.ts';

const run = promisify(execFile);

const INIT = fileURLToPath(new URL('node-init.sh', import.meta.url));

/** Addresses for the nodes that a lab has room for. */
const PLACES = [
  { address: '198.51.100.11', pods: '198.51.100.64/27' },
  { address: '198.51.100.12', pods: '198.51.100.96/27' },
] as const;

/** For `unshare` and for `nsenter`. */
const OWN_NAMESPACES = ['--mount', '--pid', '--net', '--uts', '--ipc', '--cgroup'];

/** Its shell is PID 1, and ends with `unshare`. */
const AS_INIT = ['--fork', '--kill-child=KILL', '--mount-proc'];

export interface RealNodeOptions {
  run: RunFolder;
  lab: Lab;
  /** In that lab, with a scheduler. */
  controlPlane: ControlPlane;
  name: string;
  /** A lab has room for two. */
  place: 0 | 1;
}

/**
 * A real node of a control plane in a lab: kubelet and containerd in namespaces and cgroups of their own, so that its pods really
 * run. `machine` is the whole of it: killed, all that is on it is gone at once, as when a machine loses power.
 */
export class RealNode implements AsyncDisposable {
  readonly name: string;
  readonly machine: Daemon;
  readonly containerd: Daemon;
  readonly kubelet: Daemon;
  readonly #options: RealNodeOptions;
  readonly #plan: NodePlan;
  readonly #files: NodeFiles;
  readonly #cgroups: Cgroups;
  readonly #parts = new AsyncDisposableStack();
  #pid = 0;

  private constructor(options: RealNodeOptions, plan: NodePlan, files: NodeFiles) {
    const { lab, controlPlane } = options;
    this.#files = files;
    this.name = plan.name;
    this.#options = options;
    this.#plan = plan;
    this.#cgroups = this.#parts.use(new Cgroups(`${options.run.name}-${lab.name}-${plan.name}`));
    const daemon = (name: string, command: DaemonOptions['command']): Daemon =>
      this.#parts.use(
        new Daemon({
          name: `${name} of ${plan.name} in ${controlPlane.name}`,
          command,
          log: join(plan.folder, `${name}.log`),
          environment: {
            NODE: plan.name,
            HIERARCHIES: hierarchies()
              .map(({ name: hierarchy, option }) => `${hierarchy}=${option}`)
              .join(' '),
            SYSCTLS: plan.folder,
            PATH: searchPath(),
            AWS_EC2_METADATA_DISABLED: 'true',
          },
          forks: true,
        }),
      );
    this.machine = daemon('machine', () =>
      this.#cgroups.command(['unshare', ...OWN_NAMESPACES, ...AS_INIT, 'sh', INIT]),
    );
    this.containerd = daemon('containerd', () => this.#inside(['containerd', '--config', files.containerd]));
    this.kubelet = daemon('kubelet', () => this.#inside([requiredBinary('kubelet'), ...kubeletArguments(plan, files)]));
  }

  /** The `place`th node (0 or 1) of the lab. Resolves when it is Ready. */
  static async start(options: RealNodeOptions): Promise<RealNode> {
    const { controlPlane, name } = options;
    const place = PLACES[options.place];
    const folder = await options.run.folder(controlPlane.name, name);
    const { pki, server } = controlPlane;
    await pki.issue(`node-${name}`, { commonName: name, ipAddresses: [place.address], usages: ['server'] });
    const user = { commonName: `system:node:${name}`, organizations: ['system:nodes'] };
    const client = await pki.issueClient(`node-${name}-client`, user);
    const credential = { kind: 'certificate', ...client } as const;
    await writeKubeconfig(join(folder, 'kubeconfig'), { server, caData: pki.ca.cert, credential });
    const servingCertificate = { cert: pki.file(`node-${name}.crt`), key: pki.file(`node-${name}.key`) };
    const plan = { ...place, name, folder, clientCaFile: pki.file('ca.crt'), servingCertificate };
    const node = new RealNode(options, plan, await writeNodeFiles(plan, nodeAssets()));
    try {
      node.#parts.use(await listenAsDocker(join(folder, 'docker.sock')));
      await node.boot();
      return node;
    } catch (error) {
      await node[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** Starts the machine, with nothing on it, and what runs on it. Resolves when the node is Ready. */
  async boot(): Promise<void> {
    const { lab, controlPlane } = this.#options;
    await rm(this.#files.socket, { force: true });
    await this.machine.start();
    await this.machine.printed(/^ready$/m);
    this.#pid = await this.machine.pid();
    await lab.shell(connectScript(this.#plan, this.#pid));
    await this.containerd.start();
    await this.importImages(nodeAssets().images);
    await this.kubelet.start();
    const isReady = (node: Node): boolean => isConditionTrue(node.status?.conditions, 'Ready');
    const needs = [this.machine, this.containerd, this.kubelet];
    await untilExists(controlPlane.client, NODES, { name: this.name }, isReady, { needs });
  }

  /**
   * Gives the node the images of a tar (as `docker save` makes them), for as long as its machine lives. `ctr` waits for the socket
   * to appear, but not until containerd listens on it.
   */
  async importImages(tar: string): Promise<void> {
    const importing = ['ctr', '-a', this.#files.socket, '-n', 'k8s.io', 'images', 'import', tar];
    const [program = '', ...args] = this.#inside(importing);
    for (const end = Date.now() + 30_000; ; await delay(50)) {
      try {
        await run(program, args, { env: { ...process.env, PATH: searchPath() } });
        return;
      } catch (error) {
        if (!this.containerd.running) throw await this.containerd.ended();
        if (!/connection refused/.test(String(error)) || Date.now() > end) throw error;
      }
    }
  }

  #inside(command: readonly string[]): string[] {
    const enter = [
      'nsenter',
      '--target',
      String(this.#pid),
      ...OWN_NAMESPACES,
      '--',
      'setpriv',
      '--pdeathsig',
      'KILL',
      '--',
    ];
    return this.#cgroups.command([...enter, ...command]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.machine.kill();
    await this.#parts.disposeAsync();
  }
}

function searchPath(): string {
  return [...nodeAssets().bin, process.env['PATH'] ?? ''].join(':');
}

/** Run in the lab: the node's cable, and the routes to its pods and to the others'. */
function connectScript({ address, pods }: NodePlan, pid: number): string {
  const { bridge, prefix, address: gateway } = LAB_NETWORK;
  const cable = `node-${address.slice(address.lastIndexOf('.') + 1)}`;
  const others = PLACES.filter((place) => place.address !== address);
  return `set -e
    ip link delete ${cable} 2>/dev/null || true
    ip link add ${cable} type veth peer name eth0 netns ${pid}
    ip link set ${cable} master ${bridge} up
    ip route replace ${pods} via ${address} dev ${bridge}
    exec nsenter --net=/proc/${pid}/ns/net sh -ec '
      ip link set lo up
      ip address add ${address}/${prefix} dev eth0
      ip link set eth0 up
      ip route add default via ${gateway}
      ${others.map((other) => `ip route add ${other.pods} via ${other.address}`).join('\n')}
      echo 1 >/proc/sys/net/ipv4/ip_forward'`;
}
