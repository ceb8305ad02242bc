import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Client, type Connection, createClient, createTransport, systemClock } from '@asterism/client';
import { CLUSTERS, type Cluster, PROPAGATION_POLICIES, type PropagationPolicy } from '@asterism/fleet/api';
import { joinDirect } from '@asterism/fleet/join';
import { type Deployment, DEPLOYMENTS, isConditionTrue, NAMESPACES } from '@asterism/machinery';
import { watchResource } from '@asterism/runtime';
import { startHub } from '../fleet/fleet.ts';
import { readOwnUsage } from '../harness/process-usage.ts';
import { SOURCE_FLAGS } from '../runtime/source-flags.ts';
import { startMembersProcess } from '../sim/members-process.ts';
import { benchDeployment, NAMESPACE, twoPolicy } from './bench-deployment.ts';
import type { BilledFleet, CpuByProcess } from './cost.ts';
import { DeploymentsSeen } from './deployments-seen.ts';
import { newestRevision } from './fleet-under-test.ts';
import { readRequestCounts, type RequestCount } from './request-counts.ts';

const MANAGER = 'bench';
const NAMES = ['ant', 'bee'] as const;
const JOIN_PATIENCE_MS = 20_000;
/** With room for more pods than any bench places. */
const NODES = Array.from({ length: 40 }, (_, index) => ({
  name: `node-${index}`,
  cpu: '16',
  memory: '64Gi',
  pods: 110,
}));

export interface PairMember {
  name: string;
  /** As its own administrator. */
  client: Client;
  seen: DeploymentsSeen;
}

/**
 * A hub and two simulated members, each in a process of its own. The hub reaches the members directly and pushes: no agent takes
 * part, so that the whole control plane is one process. Of members nothing is indexed for search.
 */
export class PairUnderTest implements BilledFleet, AsyncDisposable {
  readonly hub: Client;
  readonly hubSeen: DeploymentsSeen;
  readonly members: readonly PairMember[];
  readonly #pids: { hub: number; members: readonly number[] };
  readonly #parts: AsyncDisposableStack;
  #names = 0;

  private constructor(
    parts: AsyncDisposableStack,
    up: { hub: Client; hubSeen: DeploymentsSeen; members: PairMember[]; pids: { hub: number; members: number[] } },
  ) {
    this.#parts = parts;
    this.hub = up.hub;
    this.hubSeen = up.hubSeen;
    this.members = up.members;
    this.#pids = up.pids;
  }

  /** Resolves when a first Deployment is ready in both: what is measured later makes no namespace. */
  static async start(signal: AbortSignal): Promise<PairUnderTest> {
    await using parts = new AsyncDisposableStack();
    const folder = await mkdtemp(join(tmpdir(), 'asterism-bench-place-'));
    parts.defer(() => rm(folder, { recursive: true, force: true }));
    const clientOf = (connection: Connection): Client =>
      createClient({ transport: parts.use(createTransport(connection)) });
    const { process: hubProcess, admin } = await startHub(join(folder, 'hub'), 0, signal);
    parts.use(hubProcess);
    await hubProcess.ask({ ask: 'token' }); // Which says that nothing is to be indexed.
    const hub = clientOf(admin);
    const pids: number[] = [];
    const members: PairMember[] = [];
    await hub.resource(NAMESPACES).create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } });
    for (const name of NAMES) {
      const process = parts.use(await startMembersProcess(signal, SOURCE_FLAGS));
      const dataDir = join(folder, name);
      const { admins } = await process.ask({ start: [{ name, dataDir, nodes: NODES }] });
      const connection = admins[0]!;
      const client = clientOf(connection);
      const endpoint = { server: connection.server, caBundle: connection.caData };
      const options = { hub, member: client, clock: systemClock, patienceMs: JOIN_PATIENCE_MS, signal };
      await joinDirect({ clusterName: name, endpoint }, options);
      await untilTold(hub, name, signal);
      pids.push(process.pid);
      members.push({ name, client, seen: parts.use(await DeploymentsSeen.open(client, name, signal)) });
    }
    await hub.resource(PROPAGATION_POLICIES).create(twoPolicy(NAMES));
    const hubSeen = parts.use(await DeploymentsSeen.open(hub, 'the hub', signal));
    await hub.resource(DEPLOYMENTS).create(benchDeployment('first', 'two', NAMES.length));
    await hubSeen.ready('first', NAMES.length);
    return new PairUnderTest(parts.move(), { hub, hubSeen, members, pids: { hub: hubProcess.pid, members: pids } });
  }

  /** A name that no Deployment has had. */
  newName(): string {
    return `web-${this.#names++}`;
  }

  async apply(deployment: Deployment): Promise<void> {
    await this.hub.resource(DEPLOYMENTS).apply(deployment, { fieldManager: MANAGER });
  }

  async applyPolicy(policy: PropagationPolicy): Promise<void> {
    await this.hub.resource(PROPAGATION_POLICIES).apply(policy, { fieldManager: MANAGER });
  }

  cpu(): CpuByProcess {
    const of = (pid: number): number => readOwnUsage(pid).cpuMs;
    const members = this.#pids.members.reduce((sum, pid) => sum + of(pid), 0);
    return { hub: of(this.#pids.hub), members, agents: 0 };
  }

  hubRssBytes(): number {
    return readOwnUsage(this.#pids.hub).rssBytes;
  }

  requestCounts(): Promise<RequestCount[]> {
    return readRequestCounts(this.hub);
  }

  revision(): Promise<number> {
    return newestRevision(this.hub);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#parts.disposeAsync();
  }
}

/** Resolves when the hub knows what the cluster serves. */
async function untilTold(hub: Client, name: string, signal: AbortSignal): Promise<void> {
  const isTold = ({ metadata, status }: Cluster): boolean =>
    metadata.name === name && isConditionTrue(status?.conditions, 'Ready') && status?.apis !== undefined;
  const stop = new AbortController();
  try {
    for await (const event of watchResource(hub.resource(CLUSTERS), {
      signal: AbortSignal.any([signal, stop.signal]),
    })) {
      if ('object' in event && event.type !== 'Delete' && isTold(event.object)) return;
    }
  } finally {
    stop.abort();
  }
}
