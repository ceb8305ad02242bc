import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type ApiServer,
  createApiServer,
  createSqliteStorage,
  openServerPki,
  type ServerPki,
} from '@asterism/apiserver';
import {
  type Client,
  type Clock,
  type Connection,
  createClient,
  type SubtreePool,
  systemClock,
} from '@asterism/client';
import { type KubeObject, PODS } from '@asterism/machinery';
import { createManager, type Logger } from '@asterism/runtime';
import { kubeletConnects } from './kubelet/kubelet-connects.ts';
import { KubeletEndpoints } from './nodes/kubelet-endpoints.ts';
import { METRICS_READER, metricsExtension } from './nodes/metrics-extension.ts';
import { addNodeHeartbeat } from './nodes/node-heartbeat.ts';
import { addNodeLifecycle } from './nodes/node-lifecycle.ts';
import type { NodeShape } from './nodes/node-shape.ts';
import { addPodRunner, type PodRunner } from './nodes/pod-runner.ts';
import { addScheduler } from './nodes/scheduler.ts';
import { addTaintEviction } from './nodes/taint-eviction.ts';
import { addCronJobController } from './workloads/cron-job-controller.ts';
import { addDaemonSetController } from './workloads/daemon-set-controller.ts';
import { addDeploymentController } from './workloads/deployment-controller.ts';
import { addDisruptionBudgetController } from './workloads/disruption-budget-controller.ts';
import { addEndpointSliceController } from './workloads/endpoint-slice-controller.ts';
import { addJobController } from './workloads/job-controller.ts';
import { addReplicaSetController } from './workloads/replica-set-controller.ts';
import { addStatefulSetController } from './workloads/stateful-set-controller.ts';
import { addVolumeBinder } from './workloads/volume-binder.ts';

export interface MemberOptions {
  name: string;
  /** Keys, database and port are kept here; started again on it, the member is the same cluster. */
  dataDir: string;
  /** Port 0: a free one at the first start, the same one from then on. */
  listen: { host: string; port: number };
  nodes: readonly NodeShape[];
  /** Applied at every start, before the member is ready: what an administrator would have set up. */
  manifests?: readonly KubeObject[];
  /** From bound to ready, and from deleted to gone, in ms. Defaults 300 and 200. */
  podStartMs?: number;
  podStopMs?: number;
  /**
   * Serves each node's kubelet on a port of its own at this IP address, which the Node names, to clients with a certificate of the
   * member's authority. Without it they are reached through the member's API server alone.
   */
  kubeletEndpoint?: { host: string };
  kubernetesVersion?: string;
  logger: Logger;
  clock?: Clock;
  /** What equal parts of cached objects are shared by: one for all members of a process saves most. Default one for this. */
  subtrees?: SubtreePool | undefined;
}

/** A simulated cluster that is up. */
export interface Member extends AsyncDisposable {
  readonly url: string;
  /** As its administrator (`system:masters`), over the wire. */
  readonly admin: Connection;
  stop(): Promise<void>;
}

/** Small, as a hundred members may share a process: who was away for longer lists anew. */
const HISTORY = { milliseconds: 60_000, changes: 2_000, bytes: 1024 * 1024 };
const SYSTEM = { username: 'system:kube-controller-manager', groups: ['system:masters'] };

/** Starts a cluster whose nodes, pods and workloads move by themselves, behind an API server on a socket of its own. */
export async function startMember(options: MemberOptions): Promise<Member> {
  const { dataDir, listen, name } = options;
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const pki = await openServerPki({
    dir: join(dataDir, 'pki'),
    commonName: `simulated cluster ${name}`,
    hosts: [...new Set([listen.host, 'localhost', '127.0.0.1'])],
    admin: { commonName: `admin@${name}`, organizations: ['system:masters'] },
  });
  const nodes: { runner?: PodRunner } = {};
  const port = listen.port === 0 ? await rememberedPort(dataDir) : listen.port;
  const server = createServer(options, pki, { port, runner: () => nodes.runner });
  const { url, port: taken } = await server.start();
  await rememberPort(dataDir, taken);
  const stopControllers = await startControllers(server, options, pki, (runner) => {
    nodes.runner = runner;
  }).catch(async (error: unknown) => {
    await server.stop();
    throw error;
  });
  const stop = async (): Promise<void> => {
    await stopControllers();
    await server.stop();
  };
  return {
    url,
    admin: {
      server: url,
      caData: pki.ca.cert,
      credential: { kind: 'certificate', cert: pki.admin.cert, key: pki.admin.key },
    },
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

const versionOf = (options: MemberOptions): string => options.kubernetesVersion ?? 'v1.36.2+asterism-sim';

function createServer(
  options: MemberOptions,
  pki: ServerPki,
  { port, runner }: { port: number; runner: () => PodRunner | undefined },
): ApiServer {
  const server = createApiServer({
    storage: createSqliteStorage({ file: join(options.dataDir, 'cluster.db'), history: HISTORY }),
    listen: { host: options.listen.host, port },
    tls: pki.serving,
    clientCa: pki.ca.cert,
    signer: pki.ca,
    bootstrapTokens: true,
    serviceAccounts: { issuer: 'https://kubernetes.default.svc', key: pki.serviceAccountKey },
    version: { gitVersion: versionOf(options) },
    logger: options.logger,
    connects: kubeletConnects({
      podOf: async (namespace, name) => await kubelet.resource(PODS).get({ namespace, name }),
      backendOf: (node) => runner()?.backendOf(node),
    }),
    extensions: [metricsExtension(() => runner()?.metrics)],
  });
  const kubelet = createClient({ transport: server.transport(SYSTEM), userAgent: 'kubelet' });
  return server;
}

/** Applies the manifests, then runs what moves; resolves when all of it works. Returns what stops it. */
async function startControllers(
  server: ApiServer,
  options: MemberOptions,
  pki: ServerPki,
  onRunner: (runner: PodRunner) => void,
): Promise<() => Promise<void>> {
  const clock = options.clock ?? systemClock;
  const client = createClient({ transport: server.transport(SYSTEM), userAgent: 'kube-controller-manager' });
  await applyAll(client, [METRICS_READER, ...(options.manifests ?? [])]);
  const manager = createManager({ client, logger: options.logger, clock, subtrees: options.subtrees });
  addDeploymentController(manager, clock);
  addReplicaSetController(manager, clock);
  addStatefulSetController(manager, clock);
  addDaemonSetController(manager, clock);
  addJobController(manager, clock);
  addCronJobController(manager, clock);
  addDisruptionBudgetController(manager, clock);
  addVolumeBinder(manager);
  addEndpointSliceController(manager);
  addNodeLifecycle(manager, { clock, logger: options.logger });
  addTaintEviction(manager, clock);
  addScheduler(manager, clock);
  const runner = addPodRunner(manager, options.nodes, {
    clock,
    startMs: options.podStartMs ?? 300,
    stopMs: options.podStopMs ?? 200,
  });
  onRunner(runner);
  const kubelets = await startKubelets(options, pki, runner);
  addNodeHeartbeat(manager, options.nodes, {
    clock,
    kubeletVersion: versionOf(options),
    endpointOf: (node) => kubelets?.endpointOf(node),
    logger: options.logger,
  });
  const abort = new AbortController();
  const running = manager.start(abort.signal);
  await Promise.race([manager.ready(), running]);
  const over = running.catch((error: unknown) => {
    options.logger.error({ err: error }, 'nothing moves in this cluster any more: start it again');
  });
  return async () => {
    abort.abort();
    await over;
    await kubelets?.[Symbol.asyncDispose]();
  };
}

async function startKubelets(
  { kubeletEndpoint, nodes, clock = systemClock }: MemberOptions,
  { ca }: ServerPki,
  runner: PodRunner,
): Promise<KubeletEndpoints | undefined> {
  return kubeletEndpoint && (await KubeletEndpoints.start({ ...runner, host: kubeletEndpoint.host, nodes, ca, clock }));
}

async function applyAll(client: Client, manifests: readonly KubeObject[]): Promise<void> {
  for (const manifest of manifests) {
    const type = await client.discovery.typeFor(manifest);
    await client.resource(type).apply(manifest, { fieldManager: 'setup', force: true });
  }
}

async function rememberedPort(dataDir: string): Promise<number> {
  const text = await readFile(join(dataDir, 'port'), 'utf8').catch(() => '0');
  return Number.parseInt(text, 10) || 0;
}

async function rememberPort(dataDir: string, port: number): Promise<void> {
  const file = join(dataDir, 'port');
  await writeFile(`${file}.new`, `${port}\n`);
  await rename(`${file}.new`, file);
}
