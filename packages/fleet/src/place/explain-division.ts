import type { Decision } from '../api/index.ts';
import type { Candidate } from './candidate.ts';
import { counted } from './counted.ts';
import type { Division } from './divide-by-weight.ts';
import type { Strategy } from './divide-replicas.ts';

export interface DivisionRecord {
  replicas: number;
  strategy: Strategy;
  shares: Division;
  weights: ReadonlyMap<string, number>;
  /** The policy has spread constraints too, which listed weights go before. */
  spreadIgnored: boolean;
}

export type Verdict = Pick<Decision, 'selected' | 'reason' | 'message' | 'weight'>;

/** What the division made of one of the chosen clusters, with the numbers that it came from. */
export type DivisionExplanation = (candidate: Candidate) => Verdict;

/** Reads the record once, for many clusters. */
export function explainDivision(record: DivisionRecord): DivisionExplanation {
  const { shares, weights, strategy } = record;
  const whyShare = shareExplanation(record);
  return (candidate) => {
    const share = shares.get(candidate.name);
    const weight = weights.get(candidate.name);
    const chosen = share !== undefined && (share > 0 || strategy.type === 'Duplicated');
    const verdict: Verdict = chosen
      ? { selected: true, reason: 'Selected', message: whyShare(share, candidate, weight) }
      : { selected: false, ...whyNothing(candidate, weight, record) };
    if (weight !== undefined) verdict.weight = weight;
    return verdict;
  };
}

function shareExplanation({ replicas, strategy, weights, spreadIgnored }: DivisionRecord) {
  const all = counted(replicas, 'replica');
  const whole = `gets all ${all}, as every chosen cluster does`;
  let total = 0;
  for (const weight of weights.values()) total += weight;
  const ignored = spreadIgnored ? '; static weights decide alone, spread constraints are not looked at' : '';
  return (share: number, { assigned, tier }: Candidate, weight: number | undefined): string => {
    if (strategy.type === 'Duplicated') return whole;
    const overflow = tier > 0 ? ` as overflow group ${tier}` : '';
    const part = `gets ${share} of ${all}${overflow}`;
    if (strategy.type === 'StaticWeights') return `${part}: weight ${weight} of ${total}${ignored}`;
    if (weight === undefined || share === assigned) return `${part}: it keeps what it had`;
    return `${part}: weight ${weight} of ${total} by available capacity, ${assigned} there before`;
  };
}

function whyNothing(
  { available }: Candidate,
  weight: number | undefined,
  { replicas, strategy }: DivisionRecord,
): Pick<Verdict, 'reason' | 'message'> {
  if (replicas === 0) return { reason: 'NoReplicas', message: 'the template asks for 0 replicas' };
  if (weight === undefined) {
    return { reason: 'NoReplicas', message: `fewer clusters can hold all ${counted(replicas, 'replica')}` };
  }
  if (weight > 0) {
    return {
      reason: 'NoReplicas',
      message: `its weight ${weight} is too small for a share of ${counted(replicas, 'replica')}`,
    };
  }
  const why =
    strategy.type === 'StaticWeights'
      ? 'no weight rule of the policy gives it a weight'
      : available > 0
        ? 'those that are there stay where they are'
        : 'it has no room for one';
  return { reason: 'ZeroWeight', message: `gets none of ${counted(replicas, 'replica')}: ${why}` };
}
