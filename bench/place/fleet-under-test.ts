import { type Client, unlessAborted } from '@asterism/client';
import { CLUSTERS, PROPAGATION_POLICIES } from '@asterism/fleet/api';
import { type Deployment, DEPLOYMENTS, NAMESPACES } from '@asterism/machinery';
import { AsterUp, temporaryDataDir } from '../../test/demo/aster-up.ts';
import { readOwnUsage } from '../harness/process-usage.ts';
import { allPolicy, benchDeployment, NAMESPACE, twoPolicy } from './bench-deployment.ts';
import type { BilledFleet, CpuByProcess, FleetProcess } from './cost.ts';
import { DeploymentsSeen } from './deployments-seen.ts';
import { readRequestCounts, type RequestCount } from './request-counts.ts';

const MANAGER = 'bench';
interface Joined {
  name: string;
  syncMode: string;
  nodes: number;
}

export interface Member extends Joined {
  /** On its own address, as its own administrator. */
  client: Client;
  seen: DeploymentsSeen;
}

/** `aster up` with so many members in a temporary data dir, and watches of the hub and of every member. */
export class FleetUnderTest implements BilledFleet, AsyncDisposable {
  readonly hub: Client;
  readonly hubSeen: DeploymentsSeen;
  readonly members: readonly Member[];
  readonly kubeconfig: string;
  readonly #pids: Map<string, number>;
  readonly #parts: AsyncDisposableStack;
  #names = 0;

  private constructor(
    parts: AsyncDisposableStack,
    up: { hub: Client; hubSeen: DeploymentsSeen; members: Member[]; kubeconfig: string; pids: Map<string, number> },
  ) {
    this.#parts = parts;
    this.hub = up.hub;
    this.hubSeen = up.hubSeen;
    this.members = up.members;
    this.kubeconfig = up.kubeconfig;
    this.#pids = up.pids;
  }

  /** Resolves when a first Deployment has reached every member and is ready there: what is measured later makes no namespace. */
  static async start(count: number, signal: AbortSignal): Promise<FleetUnderTest> {
    await using parts = new AsyncDisposableStack();
    const dataDir = parts.use(await temporaryDataDir());
    const aster = parts.use(new AsterUp(dataDir.path, ['--members', String(count)]));
    await unlessAborted(aster.ready(), signal);
    const hub = await aster.hub();
    const { items } = await hub.resource(CLUSTERS).list();
    const clusters = items.map(({ metadata, spec, status }) => ({
      name: metadata?.name ?? '',
      syncMode: spec.syncMode,
      nodes: status?.nodes?.total ?? 0,
    }));
    await setUp(hub, twoOf(clusters));
    const hubSeen = parts.use(await DeploymentsSeen.open(hub, 'the hub', signal));
    const members = await Promise.all(
      clusters.map(async ({ name, syncMode, nodes }): Promise<Member> => {
        const client = await aster.member(name);
        return { name, syncMode, nodes, client, seen: parts.use(await DeploymentsSeen.open(client, name, signal)) };
      }),
    );
    await hub.resource(DEPLOYMENTS).create(benchDeployment('first', 'all'));
    await hubSeen.ready('first', count);
    const kubeconfig = `${dataDir.path}/kubeconfig`;
    return new FleetUnderTest(parts.move(), { hub, hubSeen, members, kubeconfig, pids: await aster.processes() });
  }

  /** The two that the policy `two` names: the largest Push and the largest Pull member, where there are both. */
  get two(): Member[] {
    const names = twoOf(this.members);
    return this.members.filter(({ name }) => names.includes(name));
  }

  /** A name that no Deployment has had. */
  newName(): string {
    return `web-${this.#names++}`;
  }

  async apply(client: Client, deployment: Deployment): Promise<void> {
    await client.resource(DEPLOYMENTS).apply(deployment, { fieldManager: MANAGER });
  }

  cpu(): CpuByProcess {
    const of = (name: FleetProcess): number => readOwnUsage(this.#pids.get(name) ?? 0).cpuMs;
    return { hub: of('hub'), members: of('members'), agents: of('agents') };
  }

  hubRssBytes(): number {
    return readOwnUsage(this.#pids.get('hub') ?? 0).rssBytes;
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

/** The version of the newest write in an API server's store. */
export async function newestRevision(server: Client): Promise<number> {
  const { metadata } = await server.resource(NAMESPACES).list({ limit: 1 });
  return Number(metadata?.resourceVersion);
}

async function setUp(hub: Client, two: string[]): Promise<void> {
  await hub.resource(NAMESPACES).create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } });
  await hub.resource(PROPAGATION_POLICIES).create(allPolicy());
  if (two.length === 2) await hub.resource(PROPAGATION_POLICIES).create(twoPolicy(two));
}

function twoOf(clusters: readonly Joined[]): string[] {
  const largest = clusters.toSorted((a, b) => b.nodes - a.nodes);
  const push = largest.find(({ syncMode }) => syncMode === 'Push');
  const pull = largest.find(({ syncMode }) => syncMode === 'Pull');
  return [push, pull].filter((member) => member !== undefined).map(({ name }) => name);
}
