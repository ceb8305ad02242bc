import { execFile } from 'node:child_process';
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { CLUSTER_ROLE_BINDINGS } from '@asterism/machinery';
import { ControlPlane } from '../cluster/control-plane.ts';
import { Kubectl } from '../cluster/kubectl.ts';
import { writeKubeconfig } from '../cluster/kubeconfig-file.ts';
import { Lab } from '../cluster/lab.ts';
import { RealNode } from '../cluster/real-node.ts';
import { requiredBinary } from '../cluster/real-kubernetes.ts';
import { RunFolder } from '../cluster/run-folder.ts';
import { ExampleOperator } from './example-operator.ts';
import { SeenUids } from './seen-uids.ts';

const execute = promisify(execFile);

const COMPACT_PROCESS = fileURLToPath(new URL('compact-etcd-process.ts', import.meta.url));
const JOBS_PATH = '/apis/batch/v1/namespaces/default/jobs';

/**
 * Three real control planes for the examples: `main`, where they live, `paris` with a node on which Jobs really run, and `lyon`,
 * which has not joined yet. Beside them both examples, two replicas of each.
 */
export class ExampleClusters implements AsyncDisposable {
  readonly main: ControlPlane;
  readonly paris: ControlPlane;
  readonly lyon: ControlPlane;
  readonly jobs: ExampleOperator;
  readonly sync: ExampleOperator;
  /** The Jobs of {@link planes}. */
  readonly seen: readonly SeenUids[];
  readonly #fleet: string;
  readonly #folder: string;
  readonly #parts: AsyncDisposableStack;

  private constructor(
    planes: readonly [ControlPlane, ControlPlane, ControlPlane],
    operators: readonly [ExampleOperator, ExampleOperator],
    place: { run: RunFolder; fleet: string; parts: AsyncDisposableStack },
  ) {
    [this.main, this.paris, this.lyon] = planes;
    [this.jobs, this.sync] = operators;
    this.#fleet = place.fleet;
    this.#folder = place.run.path;
    this.#parts = place.parts;
    this.seen = planes.map(({ connection }) => place.parts.use(new SeenUids(connection, JOBS_PATH)));
  }

  static async start(): Promise<ExampleClusters> {
    await using parts = new AsyncDisposableStack();
    const run = parts.use(await RunFolder.open());
    const fleet = await run.folder('fleet');
    const start = async (name: string): Promise<ControlPlane> => parts.use(await ControlPlane.start(run, { name }));
    const starting = [start('main'), startParis(run, parts), start('lyon')] as const;
    await Promise.allSettled(starting); // When one fails the others have come to an end before all is taken down.
    const planes = await Promise.all(starting);
    const [main, paris] = planes;
    const kubectl = new Kubectl(requiredBinary('kubectl-1.36'), main.kubeconfig, run.path);
    await kubectl.run(['apply', '-f', 'examples/multi-cluster-job/crd.yaml']);
    await kubectl.run(['wait', '--for=condition=Established', 'crd/tests.job.lailin.xyz', '--timeout=30s']);
    await place(fleet, paris.name, paris.kubeconfig);
    const operator = async (name: string): Promise<ExampleOperator> =>
      parts.use(await ExampleOperator.start({ run, name, main, fleet }));
    const operators = [operator('multi-cluster-job'), operator('config-sync')] as const;
    await Promise.allSettled(operators);
    return new ExampleClusters(planes, await Promise.all(operators), { run, fleet, parts: parts.move() });
  }

  get planes(): readonly ControlPlane[] {
    return [this.main, this.paris, this.lyon];
  }

  get operators(): readonly ExampleOperator[] {
    return [this.jobs, this.sync];
  }

  /** The cluster is engaged, or gets other credentials: those of a user who may do all there until {@link dismiss}. */
  async join(cluster: ControlPlane, user: string): Promise<void> {
    const connection = await cluster.connectionAs({ commonName: user, organizations: [] });
    await cluster.client.resource(CLUSTER_ROLE_BINDINGS).create({
      metadata: { name: user },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: user }],
    });
    await place(this.#fleet, cluster.name, await writeKubeconfig(join(this.#folder, `${user}.kubeconfig`), connection));
  }

  /** He may do nothing any more. */
  async dismiss(cluster: ControlPlane, user: string): Promise<void> {
    await cluster.client.resource(CLUSTER_ROLE_BINDINGS).delete({ name: user });
  }

  /** The cluster is disengaged. */
  async leave(cluster: ControlPlane): Promise<void> {
    await rm(fileOf(this.#fleet, cluster.name));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#parts.disposeAsync();
  }
}

/** `kill -9` of its API server; the history of its etcd goes before it starts again, so that no watch can go on where it was. */
export async function restartCompacted(cluster: ControlPlane): Promise<void> {
  await cluster.apiServer.kill();
  const etcd = `/proc/${await cluster.etcd.pid()}`;
  const command = (await readFile(`${etcd}/cmdline`, 'utf8')).split('\0');
  const flag = '--listen-client-urls=';
  const url = command.find((word) => word.startsWith(flag))?.slice(flag.length) ?? '';
  await execute('nsenter', [`--net=${etcd}/ns/net`, '--', process.execPath, COMPACT_PROCESS, url]);
  await cluster.startAgain();
}

async function startParis(run: RunFolder, parts: AsyncDisposableStack): Promise<ControlPlane> {
  const lab = parts.use(await Lab.start(run, 'paris'));
  const controlPlane = parts.use(await ControlPlane.start(run, { name: 'paris', lab, scheduler: true }));
  parts.use(await RealNode.start({ run, lab, controlPlane, name: 'paris-0', place: 0 }));
  return controlPlane;
}

function fileOf(fleet: string, name: string): string {
  return join(fleet, `${name}.kubeconfig`);
}

/** At once, so that nobody reads half of it. */
async function place(fleet: string, name: string, kubeconfig: string): Promise<void> {
  const temporary = join(fleet, `.${name}`);
  await writeFile(temporary, await readFile(kubeconfig), { mode: 0o600 });
  await rename(temporary, fileOf(fleet, name));
}
