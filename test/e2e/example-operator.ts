import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { LEASES } from '@asterism/machinery';
import type { ControlPlane } from '../cluster/control-plane.ts';
import { Daemon } from '../cluster/daemon.ts';
import { freePort } from '../cluster/free-port.ts';
import type { RunFolder } from '../cluster/run-folder.ts';
import { until } from '../cluster/until.ts';

export interface ExampleOperatorOptions {
  run: RunFolder;
  /** The folder below `examples`, and its Lease. */
  name: string;
  main: ControlPlane;
  /** The folder with the kubeconfigs of the others. */
  fleet: string;
}

/** One replica, and where it tells how it is. */
class Replica extends Daemon {
  readonly log: string;
  readonly status: string;

  constructor(
    name: string,
    { name: example, main, fleet }: ExampleOperatorOptions,
    place: { log: string; port: number },
  ) {
    const program = fileURLToPath(new URL(`../../examples/${example}/src/main.ts`, import.meta.url));
    const environment = { KUBECONFIG: main.kubeconfig, STATUS_PORT: String(place.port) };
    const flags = ['--conditions=asterism-source', '--disable-warning=ExperimentalWarning'];
    super({ name, command: [process.execPath, ...flags, program, fleet], log: place.log, environment });
    this.log = place.log;
    this.status = `http://127.0.0.1:${place.port}`;
  }
}

/** An example as its user runs it: two processes, of which one acts. */
export class ExampleOperator implements AsyncDisposable {
  readonly #options: ExampleOperatorOptions;
  #leader: Replica;
  #standby: Replica;

  private constructor(options: ExampleOperatorOptions, replicas: [Replica, Replica]) {
    this.#options = options;
    [this.#leader, this.#standby] = replicas;
  }

  /** Resolves when the first leads and the second runs. */
  static async start(options: ExampleOperatorOptions): Promise<ExampleOperator> {
    const folder = await options.run.folder(options.name);
    const replica = async (letter: string): Promise<Replica> => {
      const place = { log: join(folder, `${letter}.log`), port: await freePort() };
      return new Replica(`${options.name}, replica ${letter}`, options, place);
    };
    const operator = new ExampleOperator(options, [await replica('a'), await replica('b')]);
    try {
      await operator.#leader.start();
      await operator.#heldByAnotherThan(undefined);
      await operator.#standby.start();
      return operator;
    } catch (error) {
      await operator[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** `kill -9` of the one that leads. Resolves when the other leads and the first runs again, with how long nobody led, in ms. */
  async killLeader(): Promise<number> {
    const { spec } = await this.#heldByAnotherThan(undefined);
    const killed = this.#leader;
    await killed.kill();
    const began = performance.now();
    await this.#heldByAnotherThan(spec?.holderIdentity);
    const took = performance.now() - began;
    [this.#leader, this.#standby] = [this.#standby, killed];
    await killed.start();
    return took;
  }

  /** Starts again those that ended by themselves, as a kubelet does. Returns how many had. */
  async restartEnded(): Promise<number> {
    const ended = [this.#leader, this.#standby].filter(({ running }) => !running);
    for (const replica of ended) await replica.start();
    return ended.length;
  }

  /** What `/metrics` of the one that leads says. */
  async metrics(): Promise<string> {
    const response = await fetch(`${this.#leader.status}/metrics`);
    return await response.text();
  }

  /** What both have logged so far. */
  async logs(): Promise<string> {
    return (await Promise.all([this.#leader, this.#standby].map(({ log }) => readFile(log, 'utf8')))).join('');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([this.#leader.kill(), this.#standby.kill()]);
  }

  #heldByAnotherThan(identity: string | undefined) {
    const { main, name } = this.#options;
    const isOther = (holder: string | undefined): boolean => Boolean(holder) && holder !== identity;
    return until(main.client, LEASES, { namespace: 'default', name }, ({ spec }) => isOther(spec?.holderIdentity));
  }
}
