import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Client, createClient, createTransport } from '@asterism/client';
import { AGENT_SERVICE_ACCOUNT, memberProxyPath, SYSTEM_NAMESPACE } from '@asterism/fleet/api';
import { connectionOf } from './connection-of.ts';
import { asterService, runAster } from './aster.ts';
import { CONTROL_PLANE_BINARIES, ControlPlane } from './control-plane.ts';
import type { Daemon } from './daemon.ts';
import type { FleetHub } from './fleet-hub.ts';
import { writeKubeconfig } from './kubeconfig-file.ts';
import { Kubectl } from './kubectl.ts';
import { Lab } from './lab.ts';
import { markPodsReady } from './mark-pods-ready.ts';
import { unlessNodes } from './node-assets.ts';
import { RealNode } from './real-node.ts';
import { requiredBinary, unlessThere } from './real-kubernetes.ts';
import type { Relay } from './relay.ts';
import type { RunFolder } from './run-folder.ts';

/** A real cluster that has joined. */
export interface Member<Name extends string = 'alder' | 'cedar'> {
  readonly name: Name;
  readonly controlPlane: ControlPlane;
  /** On its own API server as its own administrator: the hub has no part in it. */
  readonly kubectl: Kubectl;
  /** `aster agent`. Started again it needs no token. */
  readonly agent: Daemon;
}

/** For `describe(name, {skip})`: false where a {@link Fleet} can be started, else why not. */
export function unlessFleet(): false | string {
  return unlessThere(...CONTROL_PLANE_BINARIES, 'kubectl-1.36') || unlessNodes();
}

/**
 * A hub and two real clusters, joined by `aster agent --kubeconfig`:
 *
 * - `alder`: Push, on loopback, without nodes: {@link markPodsReady} stands in for them;
 * - `cedar`: Pull, in a {@link Lab} that the hub cannot dial, with two real nodes.
 */
export class Fleet implements AsyncDisposable {
  readonly hub: FleetHub;
  /** On the hub, as its administrator. */
  readonly client: Client;
  readonly kubectl: Kubectl;
  readonly alder: Member;
  readonly cedar: Member;
  /** From cedar's agent to the hub. */
  readonly wayOut: Relay;
  readonly #parts: AsyncDisposableStack;

  private constructor(hub: OpenHub, members: Pick<Fleet, 'alder' | 'cedar' | 'wayOut'>, parts: AsyncDisposableStack) {
    this.hub = hub.hub;
    this.client = hub.client;
    this.kubectl = hub.kubectl;
    this.alder = members.alder;
    this.cedar = members.cedar;
    this.wayOut = members.wayOut;
    this.#parts = parts;
  }

  /** Resolves when both members have joined and are connected. */
  static async start(run: RunFolder, startHub: (run: RunFolder) => Promise<FleetHub>): Promise<Fleet> {
    await using parts = new AsyncDisposableStack();
    const starting = [
      startHub(run).then((hub) => parts.use(hub)),
      startAlder(run, parts),
      startCedar(run, parts),
    ] as const;
    // When one of them fails the others have come to an end before all is taken down.
    await Promise.allSettled(starting);
    const [started, alder, { lab, controlPlane }] = await Promise.all(starting);
    const hub = await openHub(run, started, parts);
    const wayOut = await lab.openWayOut(Number(new URL(hub.address).port));
    const [joinedAlder, joinedCedar] = await Promise.all([
      joinMember({ run, hub, parts, name: 'alder', mode: 'push', controlPlane: alder }),
      joinMember({
        run,
        hub,
        parts,
        name: 'cedar',
        mode: 'pull',
        controlPlane,
        within: (command) => lab.command(command),
      }),
    ]);
    return new Fleet(hub, { alder: joinedAlder, cedar: joinedCedar, wayOut }, parts.move());
  }

  get members(): readonly [Member, Member] {
    return [this.alder, this.cedar];
  }

  /** kubectl's flags for the API of a member, called through the hub. */
  async through(member: Member): Promise<string[]> {
    const { server } = await connectionOf(this.hub.kubeconfig);
    return ['--server', server + memberProxyPath(member.name)];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#parts.disposeAsync();
  }
}

async function startAlder(run: RunFolder, parts: AsyncDisposableStack): Promise<ControlPlane> {
  const controlPlane = parts.use(await ControlPlane.start(run, { name: 'alder' }));
  parts.use(markPodsReady({ client: controlPlane.client, node: 'alder-0' }));
  return controlPlane;
}

async function startCedar(
  run: RunFolder,
  parts: AsyncDisposableStack,
): Promise<{ lab: Lab; controlPlane: ControlPlane }> {
  const lab = parts.use(await Lab.start(run, 'cedar'));
  const controlPlane = parts.use(await ControlPlane.start(run, { name: 'cedar', lab, scheduler: true }));
  const starting = ([0, 1] as const).map(async (place) =>
    parts.use(await RealNode.start({ run, lab, controlPlane, name: `cedar-${place}`, place })),
  );
  await Promise.allSettled(starting);
  await Promise.all(starting);
  return { lab, controlPlane };
}

export interface OpenHub {
  hub: FleetHub;
  client: Client;
  kubectl: Kubectl;
  /** Where agents call it. */
  address: string;
}

/** Its clients; they are closed with `parts`. */
export async function openHub(run: RunFolder, hub: FleetHub, parts: AsyncDisposableStack): Promise<OpenHub> {
  const connection = await connectionOf(hub.kubeconfig);
  const transport = parts.use(createTransport(connection));
  const client = createClient({ transport, userAgent: 'test' });
  const kubectl = new Kubectl(requiredBinary('kubectl-1.36'), hub.kubeconfig, await run.folder('kubectl'));
  return { hub, client, kubectl, address: connection.server };
}

export interface Joining<Name extends string> {
  name: Name;
  run: RunFolder;
  hub: OpenHub;
  parts: AsyncDisposableStack;
  mode: 'push' | 'pull';
  controlPlane: ControlPlane;
  /** Where the agent runs. */
  within?: (command: readonly string[]) => readonly string[];
  environment?: Record<string, string>;
  /** Where the agent finds the hub, if not where the administrator does; verified by the same authority. */
  hubAddress?: string;
}

/** What whoever joins a cluster does, with the commands that they have. */
export async function joinMember<Name extends string>(joining: Joining<Name>): Promise<Member<Name>> {
  const { run, hub, parts, name, mode, controlPlane, within, environment } = joining;
  const { folder } = controlPlane;
  const kubectl = new Kubectl(
    requiredBinary('kubectl-1.36'),
    controlPlane.kubeconfig,
    await run.folder(name, 'kubectl'),
  );
  await kubectl.run(['apply', '-f', '-'], { stdin: await runAster(['agent', 'manifests', '--mode', mode]) });
  // Those who administer the fleet come to its members as themselves: what they may do there is said there.
  const admins = ['--user=admin', '--group=asterism:admins'];
  await kubectl.run(['create', 'clusterrolebinding', 'fleet-admins', '--clusterrole=cluster-admin', ...admins]);
  const kubeconfig = await agentKubeconfig(controlPlane, kubectl);
  const told = await createToken(hub.hub.kubeconfig, name, `${name}-region`);
  const tokenFile = join(folder, 'bootstrap-token');
  await writeFile(tokenFile, told.token, { mode: 0o600 });
  const hubCa = join(folder, 'hub-ca.crt');
  await writeFile(hubCa, told.hubCa);
  const who = ['--kubeconfig', kubeconfig, '--name', name, '--mode', mode];
  const whither = ['--hub', joining.hubAddress ?? told.hub, '--hub-ca', hubCa, '--token-file', tokenFile];
  const agent = parts.use(
    asterService({
      name: `agent of ${name}`,
      args: ['agent', ...who, ...whither],
      log: join(folder, 'agent.log'),
      within,
      environment,
    }),
  );
  await agent.start();
  await agent.printed(/^ready /m, AbortSignal.timeout(60_000));
  return { name, controlPlane, kubectl, agent };
}

/** The service account that its manifests made, and no more. */
async function agentKubeconfig({ folder, server, pki }: ControlPlane, kubectl: Kubectl): Promise<string> {
  const account = ['--namespace', SYSTEM_NAMESPACE, AGENT_SERVICE_ACCOUNT];
  const token = await kubectl.run(['create', 'token', '--duration=24h', ...account]);
  const credential = { kind: 'token', token: token.trim() } as const;
  return await writeKubeconfig(join(folder, 'agent.kubeconfig'), { server, caData: pki.ca.cert, credential });
}

interface CreatedToken {
  token: string;
  hub: string;
  hubCa: string;
}

async function createToken(kubeconfig: string, cluster: string, region: string): Promise<CreatedToken> {
  const flags = ['--kubeconfig', kubeconfig, '--cluster', cluster, '--region', region, '--auto-approve', '-o', 'json'];
  return JSON.parse(await runAster(['token', 'create', ...flags])) as CreatedToken;
}
