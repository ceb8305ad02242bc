import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { LEASES } from '@asterism/machinery';
import type { ControlPlane } from '../cluster/control-plane.ts';
import { Daemon } from '../cluster/daemon.ts';
import { freePort } from '../cluster/free-port.ts';
import type { RunFolder } from '../cluster/run-folder.ts';
import { untilExists } from '../cluster/until-exists.ts';

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

  /** When it was elected last, as it is logged; empty where it never was. */
  async elected(): Promise<string> {
    const lines = (await readFile(this.log, 'utf8').catch(() => '')).split('\n');
    const line = lines.findLast((text) => text.includes('"msg":"leads"')) ?? '{}';
    return (JSON.parse(line) as { time?: string }).time ?? '';
  }
}

/** An example as its user runs it: two processes, of which one acts. */
export class ExampleOperator implements AsyncDisposable {
  readonly name: string;
  readonly #options: ExampleOperatorOptions;
  readonly #replicas: readonly Replica[];

  private constructor(options: ExampleOperatorOptions, replicas: readonly Replica[]) {
    this.name = options.name;
    this.#options = options;
    this.#replicas = replicas;
  }

  /** Resolves when the first leads and the second runs. */
  static async start(options: ExampleOperatorOptions): Promise<ExampleOperator> {
    const folder = await options.run.folder(options.name);
    const replica = async (letter: string): Promise<Replica> => {
      const place = { log: join(folder, `${letter}.log`), port: await freePort() };
      return new Replica(`${options.name}, replica ${letter}`, options, place);
    };
    const [first, second] = [await replica('a'), await replica('b')];
    const operator = new ExampleOperator(options, [first, second]);
    try {
      await first.start();
      await operator.#heldByAnotherThan(undefined);
      await second.start();
      return operator;
    } catch (error) {
      await operator[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** `kill -9` of the one that leads. Resolves when the other leads and the first runs again, with how long nobody led, in ms. */
  async replaceLeader(): Promise<number> {
    const { spec } = await this.#heldByAnotherThan(undefined);
    await this.killLeader();
    const began = performance.now();
    await this.#heldByAnotherThan(spec?.holderIdentity);
    const took = performance.now() - began;
    await this.restartEnded();
    return took;
  }

  /** `kill -9` of the one that leads, or was the last to. The other takes over. */
  async killLeader(): Promise<void> {
    await (await this.#leader()).kill();
  }

  /** Starts again those that ended, as a kubelet does. Returns how many had. */
  async restartEnded(): Promise<number> {
    const ended = this.#replicas.filter(({ running }) => !running);
    for (const replica of ended) await replica.start();
    return ended.length;
  }

  /** What `/metrics` of the one that leads says. */
  async metrics(): Promise<string> {
    const { status } = await this.#leader();
    const response = await fetch(`${status}/metrics`);
    return await response.text();
  }

  /** What both have logged so far. */
  async logs(): Promise<string> {
    return (await Promise.all(this.#replicas.map(({ log }) => readFile(log, 'utf8')))).join('');
  }

  /** By their logs, which tell of it also where the Lease cannot be read. */
  async #leader(): Promise<Replica> {
    const elections = await Promise.all(
      this.#replicas.map(async (replica) => ({ replica, at: await replica.elected() })),
    );
    const [last] = elections.toSorted((a, b) => b.at.localeCompare(a.at));
    if (!last?.at) throw new Error(`nobody has led of ${this.name}`);
    return last.replica;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#replicas.map((replica) => replica.kill()));
  }

  #heldByAnotherThan(identity: string | undefined) {
    const { main, name } = this.#options;
    const isOther = (holder: string | undefined): boolean => Boolean(holder) && holder !== identity;
    return untilExists(main.client, LEASES, { namespace: 'default', name }, ({ spec }) =>
      isOther(spec?.holderIdentity),
    );
  }
}
