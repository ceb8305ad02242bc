import type { Placement } from '../api/index.ts';
import type { Candidate } from './candidate.ts';
import type { Division } from './divide-by-weight.ts';
import { divideReplicas, type Strategy, strategyOf } from './divide-replicas.ts';
import { type Selection, selectClusters } from './select-clusters.ts';
import { readSpread, type Spread } from './spread-constraint.ts';
import { tieBreakOf } from '../template/tie-break.ts';

export interface Demand {
  placement: Placement;
  /** Of the template: what the tie-break goes by. */
  uid: string | undefined;
  /** What there is to divide; undefined for a template that goes whole to each cluster. */
  replicas: number | undefined;
  /** Divide as if for the first time, though with what is there counted as room. */
  fresh: boolean;
}

/** What was decided among candidates; or in words why nothing could be. */
export type Decided =
  | {
      /** Chosen by the spread constraints. Not each of them gets replicas. */
      selected: readonly Candidate[];
      /** Why one of the others is not. */
      whyNot: (candidate: Candidate) => string;
      strategy: Strategy;
      /** There are spread constraints, which listed weights go before. */
      spreadIgnored: boolean;
      /** Replicas by cluster, and the weights that they come from; undefined where nothing is divided. */
      division: { shares: Division; weights: ReadonlyMap<string, number> } | undefined;
    }
  | { refused: string };

/** Chooses among the clusters that passed the filters, and divides the replicas among those chosen. */
export function decide(candidates: readonly Candidate[], demand: Demand): Decided {
  const { placement, uid, replicas, fresh } = demand;
  const strategy = strategyOf(placement.replicaScheduling);
  const spreadIgnored = (placement.spreadConstraints ?? []).length > 0 && ignoresSpread(placement, strategy);
  const selection = spreadIgnored ? select(candidates, strategy, demand, []) : select(candidates, strategy, demand);
  if ('refused' in selection) return selection;
  const { selected, whyNot } = selection;
  if (replicas === undefined) return { selected, whyNot, strategy, spreadIgnored, division: undefined };
  const outcome = divideReplicas(selected, { replicas, strategy, fresh, tieBreak: tieBreakOf(uid) });
  if ('room' in outcome) {
    const { room, needed } = outcome;
    return {
      refused: `the ${selected.length} clusters to choose from have room for ${room} of ${needed} replicas`,
    };
  }
  return { selected, whyNot, strategy, spreadIgnored, division: outcome };
}

function select(
  candidates: readonly Candidate[],
  strategy: Strategy,
  { placement, replicas = 0 }: Demand,
  spreadConstraints = placement.spreadConstraints,
): Selection {
  const spread: Spread | { refused: string } = readSpread(spreadConstraints);
  if ('refused' in spread) return spread;
  const strict = placement.strictSpread ?? false;
  const replicasToHold = asksForRoom(strategy, placement) ? replicas : undefined;
  return selectClusters(candidates, { spread, strict, replicas, replicasToHold });
}

/** Whether clusters are chosen for the room that they have, all of them together. */
export function asksForRoom({ type }: Strategy, { strictSpread }: Placement): boolean {
  return type !== 'Duplicated' && !(strictSpread && type === 'StaticWeights');
}

/** Where weights are listed, or none are given at all, the weights alone say where replicas go; unless the policy is strict. */
function ignoresSpread({ replicaScheduling, strictSpread }: Placement, { type }: Strategy): boolean {
  if (strictSpread || type !== 'StaticWeights') return false;
  const preference = replicaScheduling?.weightPreference;
  return preference === undefined || (preference.staticWeightList ?? []).length > 0;
}
