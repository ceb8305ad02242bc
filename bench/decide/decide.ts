import type { Placement } from '@asterism/fleet/api';
import { estimateReplicas } from '@asterism/fleet/capacity';
import { KnownClusters, schedule, type ScheduleInput } from '@asterism/fleet/place';
import { type BenchContext, defineBench, type FigureSpec } from '../harness/bench.ts';
import { interleave } from '../harness/interleave.ts';
import { mulberry32 } from '../../test/soak/mulberry32.ts';
import { fleetOf, nodeCapacityOf } from './fleet-of-clusters.ts';

const ROUNDS = 7;
const WARM_UP = 3;
/** Each round is to last for a good part of a second, for the clock of CPU time is coarse and others use the machine too. */
const DECISIONS = { 100: 5_000, 1000: 600 } as const;
const ESTIMATES = 200_000;
const SEED = 20_261;

const PLACEMENT: Placement = {
  clusterAffinity: { labelSelector: { matchLabels: { tier: 'gold' } } },
  spreadConstraints: [
    { spreadByField: 'region', minGroups: 2, maxGroups: 4 },
    { spreadByField: 'cluster', minGroups: 3, maxGroups: 20 },
  ],
  replicaScheduling: {
    replicaSchedulingType: 'Divided',
    replicaDivisionPreference: 'Weighted',
    weightPreference: { dynamicWeight: 'AvailableReplicas' },
  },
};

const NEEDS = { cpu: '500m', memory: '1Gi' };

function inputOf(clusters: number, placement: Placement): ScheduleInput {
  const fleet = fleetOf({ clusters, nodes: 40 }, mulberry32(SEED));
  return {
    template: { apiVersion: 'apps/v1', kind: 'Deployment', uid: 'uid-of-bench' },
    workload: { replicas: 60, requirements: NEEDS },
    placement,
    clusters: fleet,
    previous: [{ name: fleet[3]?.metadata.name ?? '', replicas: 20 }],
    known: new KnownClusters(),
  };
}

/** µs of CPU of this process, for one of `count`. */
function costOf(count: number, call: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  for (let index = 0; index < count; index += 1) call();
  const { user, system } = process.cpuUsage(before);
  return Promise.resolve((user + system) / count);
}

const PUBLISHED = 'Karmada: select and assign';

const decision = (what: string, clusters: number, atMost: number, quoted: number): FigureSpec => ({
  name: `decide by ${what} among ${clusters} clusters: CPU`,
  unit: 'µs',
  baseline: { name: PUBLISHED, quoted },
  goal: { of: 'value', atMost },
});

export type DecideFigure = 'region.100' | 'region.1000' | 'cluster.100' | 'cluster.1000' | 'estimate';

export const decideFigures: Record<DecideFigure, FigureSpec> = {
  'region.100': decision('regions and clusters', 100, 60, 800),
  'region.1000': decision('regions and clusters', 1000, 600, 9_000),
  'cluster.100': decision('clusters', 100, 60, 800),
  'cluster.1000': decision('clusters', 1000, 600, 9_000),
  estimate: {
    name: 'estimate of a cluster of 5,000 nodes, never asked before: CPU',
    unit: 'µs',
    baseline: { name: 'of 100 nodes' },
    goal: { of: 'ratio', atMost: 1.5 },
  },
};

export const decideBench = defineBench({
  name: 'decide',
  summary: 'one decision of the scheduler, with spread constraints and weights by room; the estimate for one cluster',
  minutes: 4,
  figures: decideFigures,
  run: measureDecisions,
});

/** What one decision and one estimate cost, of this very process. */
export async function measureDecisions({ report, progress, signal }: BenchContext<DecideFigure>): Promise<void> {
  const [, cluster] = PLACEMENT.spreadConstraints ?? [];
  const byCluster = { ...PLACEMENT, spreadConstraints: cluster ? [cluster] : [] };
  const inputs = {
    'region.100': inputOf(100, PLACEMENT),
    'region.1000': inputOf(1000, PLACEMENT),
    'cluster.100': inputOf(100, byCluster),
    'cluster.1000': inputOf(1000, byCluster),
  };
  for (const [name, input] of Object.entries(inputs)) {
    const { unschedulable } = schedule(input);
    if (unschedulable) throw new Error(`${name} is not to be decided: ${unschedulable.message}`);
  }
  progress('decisions');
  const decide = (input: ScheduleInput) => () =>
    costOf(input.clusters.length === 100 ? DECISIONS[100] : DECISIONS[1000], () => schedule(input));
  const costs = await interleave(
    {
      'region.100': decide(inputs['region.100']),
      'region.1000': decide(inputs['region.1000']),
      'cluster.100': decide(inputs['cluster.100']),
      'cluster.1000': decide(inputs['cluster.1000']),
    },
    { rounds: ROUNDS, warmUp: WARM_UP, signal },
  );
  for (const name of Object.keys(inputs) as (keyof typeof inputs)[]) report(name, { values: costs[name] });
  progress('estimates');
  const needs = { requests: { cpu: 500, memory: 2 ** 30 } };
  const [few, many] = [100, 5_000].map((nodes) => nodeCapacityOf(nodes, mulberry32(SEED)));
  if (!few || !many) return;
  const estimates = await interleave(
    {
      few: () => costOf(ESTIMATES, () => estimateReplicas(needs, few)),
      many: () => costOf(ESTIMATES, () => estimateReplicas(needs, many)),
    },
    { rounds: ROUNDS, warmUp: 1, signal },
  );
  report('estimate', { values: estimates.many, baselines: estimates.few });
}
