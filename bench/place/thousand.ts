import { setTimeout as delay } from 'node:timers/promises';
import { API_VERSION, type PropagationPolicy, RESOURCE_BINDINGS, type ResourceBinding } from '@asterism/fleet/api';
import { CONFIG_MAPS, isConditionTrue } from '@asterism/machinery';
import { buildPackages } from '../apiserver/build-packages.ts';
import type { BenchContext, FigureSpec } from '../harness/bench.ts';
import { percentile } from '../harness/statistics.ts';
import { benchDeployment, NAMESPACE } from './bench-deployment.ts';
import { type BatchCost, billed, type CpuByProcess, idleCost, inTurns, untilQuiet } from './cost.ts';
import { type Standing, untilStanding } from './count-standing.ts';
import { PairUnderTest } from './pair-under-test.ts';
import { conflicts, storedWrites, sumCounts } from './request-counts.ts';

const MB = 1e6;
const DEPLOYMENTS = 1_000;
/** Of which the memory is measured. */
const DEPLOYMENTS_HELD = 3_000;
const MOVED = 1_000;
/** With so many under way a rollout takes well under a second on two cores. */
const AT_ONCE = 4;
/** Where it does not matter how long one takes. */
const MANY_AT_ONCE = 12;
const APPLIES = 30;
const WARM_UP = 5;
const IDLE_MS = 10_500;
/** After which a process has given back what it needed only for its work. */
const GIVEN_BACK_MS = 70_000;

export type ThousandFigure =
  | 'thousand.cpu'
  | 'thousand.writes'
  | 'thousand.conflicts'
  | 'thousand.memory'
  | 'thousand.p50'
  | 'thousand.p99'
  | 'thousand.moves'
  | 'thousand.told';

const DEPLOYMENT = `${DEPLOYMENTS.toLocaleString('en')} Deployments on 2 clusters, for each`;

export const thousandFigures: Record<ThousandFigure, FigureSpec> = {
  'thousand.p50': {
    name: 'apply to standing in 2 members that the hub pushes to: p50',
    unit: 'ms',
    goal: { of: 'value', atMost: 60 },
  },
  'thousand.p99': {
    name: 'apply to standing in 2 members that the hub pushes to: p99',
    unit: 'ms',
    goal: { of: 'value', atMost: 200 },
  },
  'thousand.cpu': {
    name: `${DEPLOYMENT}: CPU of the control plane, API server and storage included`,
    unit: 'ms',
    baseline: { name: "Karmada's control plane", quoted: 175 },
    goal: { of: 'value', atMost: 25 },
  },
  'thousand.writes': {
    name: `${DEPLOYMENT}: writes to the hub's store, its own included`,
    unit: 'writes',
    baseline: { name: 'Karmada', quoted: 25 },
    goal: { of: 'value', atMost: 8 },
  },
  'thousand.conflicts': {
    name: `${DEPLOYMENT}: writes refused with 409`,
    unit: 'refusals',
    baseline: { name: 'Karmada', quoted: 5 },
    goal: { of: 'value', atMost: 0 },
  },
  'thousand.memory': {
    name: `resident memory of the hub with ${DEPLOYMENTS_HELD.toLocaleString('en')} Deployments on 2 clusters, a minute after the last`,
    unit: 'MB',
    goal: { of: 'value', atMost: 400 },
  },
  'thousand.moves': {
    name: `a policy change that moves ${MOVED.toLocaleString('en')} objects to another cluster`,
    unit: 'objects/s',
    goal: { of: 'value', atLeast: 300 },
  },
  'thousand.told': { name: 'from that change until the status of the last of them tells of it', unit: 's' },
};

type Context = BenchContext<ThousandFigure>;

interface ThousandSizes {
  deployments?: number;
  held?: number;
  moved?: number;
}

/** What many objects on two clusters cost a control plane that is one process. */
export async function measureThousand(context: Context, sizes: ThousandSizes = {}): Promise<void> {
  const { deployments = DEPLOYMENTS, held = DEPLOYMENTS_HELD, moved = MOVED } = sizes;
  const { progress, report, signal } = context;
  progress('compiling the packages');
  await buildPackages(signal);
  progress('starting a hub and 2 members that it pushes to');
  await using pair = await PairUnderTest.start(signal);
  await untilQuiet(pair, signal);
  progress('how long an apply takes');
  await measureApplies(pair, context);
  const idle = await idleCost(pair, IDLE_MS, signal);
  progress(`${deployments} Deployments on 2 clusters`);
  const cost = await billed(pair, { count: deployments, idle, signal }, () =>
    placeDeployments(pair, deployments, AT_ONCE),
  );
  reportCost(cost, idle, context);
  progress(`${held} Deployments`);
  await placeDeployments(pair, held - deployments, MANY_AT_ONCE);
  await delay(GIVEN_BACK_MS, undefined, { signal });
  report('thousand.memory', { values: [pair.hubRssBytes() / MB] });
  progress(`${moved} objects are moved`);
  await measureMoves(pair, moved, context);
}

/** Applied a few at once, each until all its replicas are ready and the hub says so. */
async function placeDeployments(pair: PairUnderTest, count: number, atOnce: number): Promise<void> {
  const { length } = pair.members;
  await inTurns(count, atOnce, async () => {
    const name = pair.newName();
    await pair.apply(benchDeployment(name, 'two', length));
    await pair.hubSeen.ready(name, length);
  });
}

/** From before the apply until the last of the members shows the object; the hub has nothing else to do. */
async function measureApplies(pair: PairUnderTest, { report }: Context): Promise<void> {
  const found: number[] = [];
  for (let index = 0; index < WARM_UP + APPLIES; index++) {
    const name = pair.newName();
    const started = performance.now();
    await pair.apply(benchDeployment(name, 'two', pair.members.length));
    const standing = await Promise.all(pair.members.map(({ seen }) => seen.standing(name)));
    await pair.hubSeen.ready(name, pair.members.length);
    if (index >= WARM_UP) found.push(Math.max(...standing) - started);
  }
  report('thousand.p50', { values: [percentile(found, 50)] });
  report('thousand.p99', { values: [percentile(found, 99)] });
}

function reportCost({ cpu, requests, revisions, deployments }: BatchCost, idle: CpuByProcess, context: Context): void {
  const { report, detail } = context;
  report('thousand.cpu', { values: [cpu.hub / deployments] });
  report('thousand.writes', { values: [sumCounts(storedWrites(requests)) / deployments] });
  report('thousand.conflicts', { values: [sumCounts(conflicts(requests)) / deployments] });
  detail({
    title: `${deployments} Deployments on 2 clusters: CPU of each process`,
    columns: ['process', 'idle, ms/s', 'a Deployment, ms'],
    rows: (['hub', 'members'] as const).map((name) => [name, idle[name], cpu[name] / deployments]),
  });
  detail({
    title: `requests to the hub for each of ${deployments} Deployments (heartbeats are among them)`,
    columns: ['verb', 'resource', 'code', 'for each'],
    rows: [
      ...requests.map(({ verb, resource, code, count }) => [verb, resource, String(code), count / deployments]),
      ['versions of the store', '', '', revisions / deployments],
    ],
  });
}

const MOVED_LABEL = 'moved';
const MOVED_POLICY = 'moved';

/** The moved objects of which the hub has told that they stand in the cluster; where many are placed it does so seconds after. */
const toldOf = (cluster: string): Standing => ({
  type: RESOURCE_BINDINGS,
  namespace: NAMESPACE,
  counts: (binding) => {
    const { metadata, spec, status } = binding as ResourceBinding;
    const isTold = status?.observedGeneration === metadata.generation && status?.placed === cluster;
    return spec.resource.kind === 'ConfigMap' && isTold && isConditionTrue(status?.conditions, 'FullyApplied');
  },
});

/** From the policy's change, when the hub has nothing else to do, until all stand in the new cluster and none in the one before. */
async function measureMoves(pair: PairUnderTest, count: number, { report, signal }: Context): Promise<void> {
  const [from, to] = pair.members;
  if (!from || !to) throw new Error('there are no two members');
  const standing = { type: CONFIG_MAPS, namespace: NAMESPACE, labelSelector: MOVED_LABEL };
  await pair.applyPolicy(policyFor(from.name));
  let index = 0;
  await inTurns(count, MANY_AT_ONCE, async () => {
    const metadata = { name: `moved-${index++}`, namespace: NAMESPACE, labels: { [MOVED_LABEL]: 'yes' } };
    const data = { 'settings.yaml': 'level: info\nworkers: 4\n' };
    await pair.hub.resource(CONFIG_MAPS).create({ apiVersion: 'v1', kind: 'ConfigMap', metadata, data });
  });
  await untilStanding(from.client, standing, count, signal);
  await untilStanding(pair.hub, toldOf(from.name), count, signal);
  await untilQuiet(pair, signal);
  const started = performance.now();
  await pair.applyPolicy(policyFor(to.name));
  await Promise.all([
    untilStanding(to.client, standing, count, signal),
    untilStanding(from.client, standing, 0, signal),
  ]);
  const tookMs = performance.now() - started;
  report('thousand.moves', { values: [count / (tookMs / 1000)] });
  await untilStanding(pair.hub, toldOf(to.name), count, signal);
  report('thousand.told', { values: [(performance.now() - started) / 1000] });
}

export function policyFor(cluster: string): PropagationPolicy {
  return {
    apiVersion: API_VERSION,
    kind: 'PropagationPolicy',
    metadata: { name: MOVED_POLICY, namespace: NAMESPACE },
    spec: {
      resourceSelectors: [
        { apiVersion: 'v1', kind: 'ConfigMap', labelSelector: { matchLabels: { [MOVED_LABEL]: 'yes' } } },
      ],
      placement: { clusterAffinity: { clusterNames: [cluster] } },
    },
  };
}
