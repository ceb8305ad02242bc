import type { Decision } from '../api/index.ts';
import type { Candidate } from './candidate.ts';
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

type Verdict = Pick<Decision, 'selected' | 'reason' | 'message' | 'weight'>;

/** What the division made of one of the chosen clusters, with the numbers that it came from. */
export function explainDivision(candidate: Candidate, record: DivisionRecord): Verdict {
  const share = record.shares.get(candidate.name);
  const weight = record.weights.get(candidate.name);
  const weighed = weight === undefined ? {} : { weight };
  if (share !== undefined && (share > 0 || record.strategy.type === 'Duplicated')) {
    return { selected: true, reason: 'Selected', message: whyShare(share, candidate, record), ...weighed };
  }
  return { selected: false, ...whyNothing(candidate, record), ...weighed };
}

function whyShare(share: number, { name, assigned }: Candidate, record: DivisionRecord): string {
  const { replicas, strategy, weights, spreadIgnored } = record;
  if (strategy.type === 'Duplicated') return `gets all ${plural(replicas)}, as every chosen cluster does`;
  const part = `gets ${share} of ${plural(replicas)}`;
  const weight = weights.get(name);
  if (weight === undefined || (share === assigned && strategy.type !== 'StaticWeights'))
    return `${part}: it keeps what it had`;
  const all = [...weights.values()].reduce((sum, each) => sum + each, 0);
  if (strategy.type === 'StaticWeights') {
    const ignored = spreadIgnored ? '; static weights decide alone, spread constraints are not looked at' : '';
    return `${part}: weight ${weight} of ${all}${ignored}`;
  }
  return `${part}: weight ${weight} of ${all} by available capacity, ${assigned} there before`;
}

function whyNothing(
  { name }: Candidate,
  { replicas, strategy, weights }: DivisionRecord,
): Pick<Verdict, 'reason' | 'message'> {
  if (replicas === 0) return { reason: 'NoReplicas', message: 'the template asks for 0 replicas' };
  const weight = weights.get(name);
  if (weight === undefined) {
    return { reason: 'NoReplicas', message: `fewer clusters can hold all ${plural(replicas)}` };
  }
  if (weight > 0) {
    return { reason: 'NoReplicas', message: `its weight ${weight} is too small for a share of ${plural(replicas)}` };
  }
  const why =
    strategy.type === 'StaticWeights' ? 'no weight rule of the policy gives it a weight' : 'it has no room for one';
  return { reason: 'ZeroWeight', message: `gets none of ${plural(replicas)}: ${why}` };
}

function plural(replicas: number): string {
  return replicas === 1 ? '1 replica' : `${replicas} replicas`;
}
