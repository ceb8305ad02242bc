import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { ADVERTISED_ADDRESS } from './control-plane-arguments.ts';
import { Daemon } from './daemon.ts';
import { type Endpoint, Relay } from './relay.ts';
import type { RunFolder } from './run-folder.ts';

const run = promisify(execFile);

const RELAY_PROCESS = fileURLToPath(new URL('relay-process.ts', import.meta.url));

/** The lab's network: a bridge with this host on it, and nodes behind. */
export const LAB_NETWORK = { address: ADVERTISED_ADDRESS, prefix: 26, bridge: 'lab' } as const;

/** Keeps the namespaces, and reaps what is left to it. */
const KEEPER = 'echo ready; while :; do sleep 1000 & wait $!; done';

/**
 * A network of its own (network namespace) that nobody outside can dial into, as a private cluster's behind NAT; nor can it dial
 * out. Programs run in it by {@link command}. The only ways across are relays over Unix sockets: in for the test's own eyes
 * ({@link openWayIn}), and out, as an agent has one ({@link openWayOut}), which can be cut.
 */
export class Lab implements AsyncDisposable {
  readonly name: string;
  readonly #folder: string;
  readonly #keeper: Daemon;
  readonly #parts = new AsyncDisposableStack();
  #pid = 0;

  private constructor(name: string, folder: string) {
    this.name = name;
    this.#folder = folder;
    this.#keeper = new Daemon({
      name: `lab ${name}`,
      command: [
        'unshare',
        '--mount',
        '--pid',
        '--net',
        '--fork',
        '--kill-child=KILL',
        '--mount-proc',
        'sh',
        '-c',
        KEEPER,
      ],
      log: join(folder, 'lab.log'),
      forks: true,
    });
    this.#parts.use(this.#keeper);
  }

  static async start(runFolder: RunFolder, name: string): Promise<Lab> {
    const lab = new Lab(name, await runFolder.folder(name));
    try {
      await lab.#keeper.start();
      await lab.#keeper.printed(/^ready$/m);
      lab.#pid = await lab.#keeper.pid();
      const { address, prefix, bridge } = LAB_NETWORK;
      await lab.shell(
        `set -e
        ip link set lo up
        ip link add ${bridge} type bridge
        ip addr add ${address}/${prefix} dev ${bridge}
        ip link set ${bridge} up
        echo 1 >/proc/sys/net/ipv4/ip_forward`,
      );
      return lab;
    } catch (error) {
      await lab[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** The command, run in this network; everything else is as outside. */
  command(command: readonly string[]): string[] {
    return ['nsenter', `--net=/proc/${this.#pid}/ns/net`, '--', ...command];
  }

  /** Runs a piece of shell in it. Resolves with what it printed; rejects where it fails. */
  async shell(script: string): Promise<string> {
    const [program = '', ...args] = this.command(['sh', '-c', script]);
    const { stdout } = await run(program, args);
    return stdout;
  }

  /** The port of 127.0.0.1 out here at which the test reaches `port` of the lab's own address. */
  async openWayIn(port: number): Promise<number> {
    const socket = join(this.#folder, `in-${port}.sock`);
    await this.#relayInside({ path: socket }, { host: LAB_NETWORK.address, port });
    return this.#parts.use(await Relay.listen({ port: 0 }, { path: socket })).port;
  }

  /**
   * From 127.0.0.1:`port` in the lab, or an address of the lab that its nodes and their pods reach, to the same port out here. What
   * comes back cuts it, and restores it.
   */
  async openWayOut(port: number, host = '127.0.0.1'): Promise<Relay> {
    const socket = join(this.#folder, `out-${port}.sock`);
    const relay = this.#parts.use(await Relay.listen({ path: socket }, { port }));
    await this.#relayInside({ host, port }, { path: socket });
    return relay;
  }

  async #relayInside(from: Endpoint, to: Endpoint): Promise<void> {
    const daemon = new Daemon({
      name: `relay in lab ${this.name}`,
      command: this.command([process.execPath, RELAY_PROCESS, JSON.stringify(from), JSON.stringify(to)]),
      log: join(this.#folder, 'relay.log'),
    });
    this.#parts.use(daemon);
    await daemon.start();
    await daemon.printed(/^listening$/m);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#parts.disposeAsync();
  }
}
