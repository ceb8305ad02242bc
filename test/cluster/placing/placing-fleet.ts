import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Client, type ObjectRef } from '@asterism/client';
import { SYSTEM_NAMESPACE } from '@asterism/fleet/api';
import { parseJson } from '@asterism/machinery';
import { connectionOf } from '../connection-of.ts';
import { CONTROL_PLANE_BINARIES, ControlPlane } from '../control-plane.ts';
import { joinMember, type Member, type OpenHub, openHub } from '../fleet.ts';
import type { FleetHub } from '../fleet-hub.ts';
import { Kubectl } from '../kubectl.ts';
import { markPodsReady } from '../mark-pods-ready.ts';
import { requiredBinary, unlessThere } from '../real-kubernetes.ts';
import { RunFolder } from '../run-folder.ts';
import { SimulatedCluster, type SimulatedPlan } from './placing-members.ts';

const nodes = (name: string, count: number, cpu: string) =>
  Array.from({ length: count }, (_, n) => ({ name: `${name}-${n}`, cpu, memory: '32Gi', pods: 110 }));

/** Simulated members beside `oak`, which is a real cluster of Kubernetes 1.20. */
const SIMULATED: readonly SimulatedPlan[] = [
  {
    name: 'alder',
    syncMode: 'Push',
    description: { provider: 'acme', region: 'eu', zones: ['eu-a'], labels: { tier: 'production', grade: 'gold' } },
    nodes: nodes('alder', 1, '8'),
  },
  {
    name: 'birch',
    syncMode: 'Pull',
    description: { provider: 'acme', region: 'us', zones: ['us-a'], labels: { tier: 'staging', grade: 'iron' } },
    nodes: nodes('birch', 2, '4'),
  },
  {
    name: 'cedar',
    syncMode: 'Pull',
    description: { provider: 'edge', region: 'eu', zones: ['eu-b'], labels: { tier: 'production', grade: 'iron' } },
    nodes: nodes('cedar', 2, '16'),
  },
];

/** For `describe(name, {skip})`. */
export const unlessPlacingFleet = (): false | string =>
  unlessThere(...CONTROL_PLANE_BINARIES, 'kubectl-1.36', 'kubectl-1.20');

export interface PlacingFleetOptions {
  startHub: (run: RunFolder) => Promise<FleetHub>;
  /** How the real member joins. */
  oak: 'push' | 'pull';
  /** Of the simulated members; default all. */
  simulated?: readonly string[];
}

/** A write that came to the real member's API server. */
export interface AuditedWrite {
  verb: string;
  user: { username: string };
  objectRef?: { resource?: string; namespace?: string; name?: string; subresource?: string };
}

/** A hub however it is run; `alder`, `birch` and `cedar`, simulated, `alder` in Push; and `oak`, real, whose writes are recorded. */
export class PlacingFleet implements AsyncDisposable {
  readonly run: RunFolder;
  readonly hub: OpenHub;
  /** Of each version, at the hub. */
  readonly kubectl: Kubectl;
  readonly oldKubectl: Kubectl;
  readonly oak: Member<'oak'>;
  readonly #simulated: ReadonlyMap<string, SimulatedCluster>;
  readonly #auditLog: string;
  readonly #parts: AsyncDisposableStack;

  private constructor(
    run: RunFolder,
    hub: OpenHub,
    more: { oak: Member<'oak'>; simulated: SimulatedCluster[]; auditLog: string; oldKubectl: Kubectl },
    parts: AsyncDisposableStack,
  ) {
    this.run = run;
    this.hub = hub;
    this.kubectl = hub.kubectl;
    this.oldKubectl = more.oldKubectl;
    this.oak = more.oak;
    this.#simulated = new Map(more.simulated.map((each) => [each.name, each]));
    this.#auditLog = more.auditLog;
    this.#parts = parts;
  }

  /** Resolves when all have joined. */
  static async start({ startHub, oak: mode, simulated }: PlacingFleetOptions): Promise<PlacingFleet> {
    await using parts = new AsyncDisposableStack();
    const run = parts.use(await RunFolder.open());
    const plans = SIMULATED.filter(({ name }) => simulated?.includes(name) ?? true);
    const auditLog = join(await run.folder('audit'), 'writes.log');
    const starting = [
      startHub(run).then((each) => parts.use(each)),
      startOak(run, auditLog).then((each) => parts.use(each)),
      ...plans.map((plan) => SimulatedCluster.start(run, plan).then((each) => parts.use(each))),
    ] as const;
    await Promise.allSettled(starting);
    const [started, controlPlane, ...members] = await Promise.all(starting);
    parts.use(markPodsReady({ client: controlPlane.client, node: 'oak-0' }));
    const hub = await openHub(run, started, parts);
    const { caData = '' } = await connectionOf(started.kubeconfig);
    const [oak] = await Promise.all([
      joinMember({ run, hub, parts, name: 'oak', mode, controlPlane }),
      ...plans.map((plan, index) => (members[index] as SimulatedCluster).join(hub, caData, plan)),
    ]);
    const home = await run.folder('kubectl-1.20');
    const oldKubectl = new Kubectl(requiredBinary('kubectl-1.20'), started.kubeconfig, home);
    const more = { oak, simulated: members as SimulatedCluster[], auditLog, oldKubectl };
    return new PlacingFleet(run, hub, more, parts.move());
  }

  get client(): Client {
    return this.hub.client;
  }

  get kubeconfig(): string {
    return this.hub.hub.kubeconfig;
  }

  simulated(name: string): SimulatedCluster {
    const found = this.#simulated.get(name);
    if (!found) throw new Error(`there is no simulated member ${name}`);
    return found;
  }

  /** The API of a member, as its own administrator. */
  member(name: string): Client {
    return name === 'oak' ? this.oak.controlPlane.client : this.simulated(name).client;
  }

  /** What Asterism has written to an object in `oak`, whatever came of it. */
  async writesInOak({ namespace, name }: Required<ObjectRef>): Promise<AuditedWrite[]> {
    const lines = (await readFile(this.#auditLog, 'utf8')).trimEnd().split('\n');
    const writes = lines.map((line) => parseJson(line) as AuditedWrite);
    const ours = `system:serviceaccount:${SYSTEM_NAMESPACE}:`;
    return writes.filter(
      ({ user, objectRef }) =>
        user.username.startsWith(ours) && objectRef?.namespace === namespace && objectRef.name === name,
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#parts.disposeAsync();
  }
}

/** Its controllers look at autoscalers every second, and its API server writes down who writes what. */
async function startOak(run: RunFolder, auditLog: string): Promise<ControlPlane> {
  const policy = join(await run.folder('audit'), 'policy.yaml');
  const rules = [
    { level: 'None', verbs: ['get', 'list', 'watch'] },
    { level: 'Metadata', userGroups: ['system:serviceaccounts:asterism-system'] },
  ];
  const omitStages = ['RequestReceived'];
  await writeFile(policy, JSON.stringify({ apiVersion: 'audit.k8s.io/v1', kind: 'Policy', omitStages, rules }));
  return await ControlPlane.start(run, {
    name: 'oak',
    flags: {
      apiServer: [`--audit-policy-file=${policy}`, `--audit-log-path=${auditLog}`],
      controllerManager: ['--horizontal-pod-autoscaler-sync-period=1s'],
    },
  });
}
