import { decideFigures, type DecideFigure, measureDecisions } from '../decide/decide.ts';
import { type BenchContext, defineBench, type FigureSpec } from '../harness/bench.ts';
import { interleave } from '../harness/interleave.ts';
import { MissingBinary, realBinary } from '../harness/real-binary.ts';
import { percentile } from '../harness/statistics.ts';
import { applyBatchByHand, type BatchCost, idleCost, placeBatch, untilQuiet } from './cost.ts';
import { FleetUnderTest } from './fleet-under-test.ts';
import { byHand, kubectlAlone, kubectlThroughTheHub, throughTheHub } from './latency.ts';
import { measureThousand, type ThousandFigure, thousandFigures } from './thousand.ts';

const SIZES = ['1', '10', '50'] as const;
type Size = (typeof SIZES)[number];

/** How often each latency is measured, and how many Deployments are billed together. The smallest member has room for 220 pods. */
const RUNS: Record<Size, { applies: number; kubectl: number; batch: number }> = {
  '1': { applies: 20, kubectl: 5, batch: 40 },
  '10': { applies: 15, kubectl: 4, batch: 24 },
  '50': { applies: 8, kubectl: 3, batch: 8 },
};
/** Goals in ms from a connected client's apply to the last member that shows the object. */
const LATENCY: Record<Size, { p50: number; p99: number }> = {
  '1': { p50: 60, p99: 200 },
  '10': { p50: 120, p99: 400 },
  '50': { p50: 500, p99: 1_000 },
};
/** On this fleet the figures of two clusters are taken, whose yardstick is what others have published. */
const TWO_ON: Size = '10';
const TWO_BATCH = 60;
const IDLE_MS = 10_500;
const MIB = 2 ** 20;

const BY_HAND = 'the same applied at the members';

type PerSize = `${'apply.p50' | 'apply.p99' | 'kubectl.p50' | 'kubectl.p99' | 'cpu'}.${Size}`;
type Figure = PerSize | 'two.all' | 'memory.hub' | DecideFigure | ThousandFigure;

const inMembers = (size: Size): string => (size === '1' ? 'in 1 member' : `in ${size} members`);

function sizeFigures(size: Size): [PerSize, FigureSpec][] {
  const latency = (what: string, percent: 50 | 99, baseline: string, goal?: number): FigureSpec => ({
    name: `${what} to standing ${inMembers(size)}: p${percent}`,
    unit: 'ms',
    baseline: { name: baseline },
    ...(goal === undefined ? {} : { goal: { of: 'value', atMost: goal } }),
  });
  return [
    [`apply.p50.${size}`, latency('apply', 50, BY_HAND, LATENCY[size].p50)],
    [`apply.p99.${size}`, latency('apply', 99, BY_HAND, LATENCY[size].p99)],
    [`kubectl.p50.${size}`, latency('kubectl apply', 50, 'kubectl apply, placed nowhere')],
    [`kubectl.p99.${size}`, latency('kubectl apply', 99, 'kubectl apply, placed nowhere')],
    [
      `cpu.${size}`,
      {
        name: `a Deployment ${inMembers(size)}: CPU of hub, agents and members, for each member`,
        unit: 'ms',
        baseline: { name: `${BY_HAND}: CPU of the members` },
        goal: { of: 'ratio', atMost: 3 },
      },
    ],
  ];
}

const figures = {
  ...decideFigures,
  ...thousandFigures,
  ...(Object.fromEntries(SIZES.flatMap(sizeFigures)) as Record<PerSize, FigureSpec>),
  'two.all': {
    name: 'a Deployment on 2 clusters: CPU of hub, agents and members',
    unit: 'ms',
    baseline: { name: `${BY_HAND}: CPU of the members` },
    goal: { of: 'ratio', atMost: 3 },
  },
  'memory.hub': { name: 'resident memory of the hub with 50 members', unit: 'MiB' },
} as const satisfies Record<Figure, FigureSpec>;

type Context = BenchContext<Figure>;

/** From an apply at the hub to the object in simulated members: how long, for how much CPU, with how many writes. */
export const placeBench = defineBench<Figure>({
  name: 'place',
  summary:
    'a decision; 1,000 Deployments on two clusters: CPU, hub writes, memory; a policy change; apply to standing in 1, 10 and 50 members',
  minutes: 20,
  figures,
  async run(context) {
    await measureDecisions(context);
    await measureThousand(context);
    for (const size of SIZES) await measureFleet(size, context);
  },
});

async function measureFleet(size: Size, context: Context): Promise<void> {
  const { progress, report, signal } = context;
  progress(`starting ${size} members`);
  await using fleet = await FleetUnderTest.start(Number(size), signal);
  await untilQuiet(fleet, signal);
  progress(`${size} members: how long an apply takes`);
  await measureApplies(fleet, size, context);
  await measureKubectl(fleet, size, context);
  progress(`${size} members: what a Deployment costs`);
  const idle = await idleCost(fleet, IDLE_MS, signal);
  const count = RUNS[size].batch;
  const hand = await applyBatchByHand(fleet, fleet.members, { count, idle, signal });
  const placed = await placeBatch(fleet, 'all', { count, idle, signal });
  const members = Number(size);
  report(`cpu.${size}`, {
    values: [totalCpu(placed) / count / members],
    baselines: [hand.cpu.members / count / members],
  });
  context.detail({
    title: `${size} members: CPU of each process`,
    columns: ['process', 'idle, ms/s', 'a Deployment, ms', 'the same applied at the members, ms'],
    rows: (['hub', 'agents', 'members'] as const).map((name) => [
      name,
      idle[name],
      placed.cpu[name] / count,
      hand.cpu[name] / count,
    ]),
  });
  if (size === TWO_ON) await measureTwo(fleet, { count: TWO_BATCH, idle, signal }, context);
  if (size === '50') report('memory.hub', { values: [fleet.hubRssBytes() / MIB] });
}

async function measureApplies(fleet: FleetUnderTest, size: Size, { report, signal }: Context): Promise<void> {
  const { hub, members } = await interleave(
    { hub: () => throughTheHub(fleet), members: () => byHand(fleet) },
    { rounds: RUNS[size].applies, warmUp: 3, signal },
  );
  for (const percent of [50, 99] as const) {
    report(`apply.p${percent}.${size}`, {
      values: [percentile(hub, percent)],
      baselines: [percentile(members, percent)],
    });
  }
}

async function measureKubectl(fleet: FleetUnderTest, size: Size, { report, signal, progress }: Context): Promise<void> {
  try {
    realBinary('kubectl');
  } catch (error) {
    if (!(error instanceof MissingBinary)) throw error;
    for (const percent of [50, 99] as const) report(`kubectl.p${percent}.${size}`, { notMeasured: error.message });
    return;
  }
  progress(`${size} members: how long kubectl apply takes`);
  const { placed, alone } = await interleave(
    { placed: () => kubectlThroughTheHub(fleet), alone: () => kubectlAlone(fleet) },
    { rounds: RUNS[size].kubectl, warmUp: 1, signal },
  );
  for (const percent of [50, 99] as const) {
    report(`kubectl.p${percent}.${size}`, {
      values: [percentile(placed, percent)],
      baselines: [percentile(alone, percent)],
    });
  }
}

async function measureTwo(
  fleet: FleetUnderTest,
  batch: Parameters<typeof placeBatch>[2],
  { progress, report }: Context,
): Promise<void> {
  progress(`what a Deployment on two clusters costs`);
  const hand = await applyBatchByHand(fleet, fleet.two, batch);
  const placed = await placeBatch(fleet, 'two', batch);
  const { count } = batch;
  report('two.all', { values: [totalCpu(placed) / count], baselines: [hand.cpu.members / count] });
}

function totalCpu({ cpu }: BatchCost): number {
  return cpu.hub + cpu.members + cpu.agents;
}
