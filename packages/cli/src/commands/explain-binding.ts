import { type ClusterResourceBinding, formatUnappliedOverride, type ResourceBinding } from '@asterism/fleet/api';
import type { PassedOver } from '@asterism/fleet/place';
import { findCondition } from '@asterism/machinery';
import { formatColumns } from '../output/columns.ts';
import { explainPassedOver } from '../placement/explain-preview.ts';
import { oneLine } from '../output/one-line.ts';
import { explainRights } from '../placement/explain-rights.ts';

export type Binding = ResourceBinding | ClusterResourceBinding;
type Spec = Binding['spec'];

/** What a binding itself does not say of its template. */
export interface Surroundings {
  /** Policies that select it and do not place it. */
  passedOver: readonly PassedOver[];
  /** By cluster, the override policies with a rule for it, in the order in which they are applied. */
  overrides: ReadonlyMap<string, readonly string[]>;
}

/**
 * For every cluster, or only for those named: whether the template goes there and why, with the numbers that it was decided by; then
 * what is held back, what stands in the way where it goes and is not applied, and which overrides change it there, or changed nothing.
 *
 * @param what - the template, as the first line names it.
 */
export function explainBinding(
  { spec, status }: Binding,
  what: string,
  only: readonly string[] | undefined,
  { passedOver, overrides }: Surroundings,
): string {
  const scheduled = findCondition(status?.conditions, 'Scheduled');
  const replicas = spec.replicas === undefined ? '' : `, ${spec.replicas} replicas`;
  const head = oneLine(`${what}${replicas}, placed by ${placerOf(spec)}${scheduled ? `: ${scheduled.message}` : ''}`);
  const asked = (cluster: string): boolean => only?.includes(cluster) ?? true;
  const delivered = findCondition(status?.conditions, 'FullyApplied');
  const held = delivered?.reason === 'SuspendDispatching' ? paragraph(`Held back: ${delivered.message}`) : '';
  const hindered = (status?.aggregatedStatus ?? [])
    .filter(({ clusterName, applied, appliedMessage }) => asked(clusterName) && !applied && appliedMessage)
    .map(({ clusterName, appliedMessage }) => paragraph(`Not applied in ${clusterName}: ${appliedMessage}`));
  const idle = (status?.unappliedOverrides ?? []).flatMap((unapplied) => {
    const clusters = unapplied.reason === 'Failed' ? [] : unapplied.clusters.filter(asked);
    const outcome = unapplied.reason === 'Refused' ? 'Refused' : 'No effect';
    return clusters.length > 0
      ? [paragraph(`${outcome} in ${clusters.join(', ')}: ${formatUnappliedOverride(unapplied)}`)]
      : [];
  });
  const table = `\n${decisionTable(spec, asked)}`;
  const overridden = explainOverrides(overrides, asked);
  const rights = explainRights(spec).map(paragraph);
  return [head, explainPassedOver(passedOver), table, ...rights, overridden, held, ...hindered, ...idle].join('');
}

/** A line with an empty one before it. */
const paragraph = (text: string): string => `\n${oneLine(text)}`;

function placerOf({ policy, requiredBy = [], affinityName }: Spec): string {
  const parents = requiredBy.map(({ kind, name }) => `${kind} ${name}`).join(', ');
  const group = affinityName === undefined ? '' : `, by its group ${affinityName}`;
  if (policy) return `${policy.kind} ${policy.name}${group}`;
  return parents === '' ? 'what needs it' : `what needs it (${parents})`;
}

/** The numbers have columns where the decision went by them. */
function decisionTable({ clusters = [], decisions = [] }: Spec, asked: (cluster: string) => boolean): string {
  const shown = decisions.filter(({ cluster }) => asked(cluster));
  const shares = new Map(clusters.map((target) => [target.name, target.replicas]));
  const withScore = decisions.some(({ score }) => score !== undefined);
  const withRoom = decisions.some(({ availableReplicas }) => availableReplicas !== undefined);
  const number = (value: number | undefined) => (value === undefined ? '-' : String(value));
  const numbers = [...(withScore ? ['SCORE'] : []), ...(withRoom ? ['ROOM'] : [])];
  const header = ['CLUSTER', 'CHOSEN', 'REPLICAS', ...numbers, 'REASON', 'WHY'];
  const rows = shown.map(({ cluster, selected, score, availableReplicas, reason, message }) => [
    cluster,
    selected ? 'yes' : 'no',
    String(shares.get(cluster) ?? (selected ? '-' : 0)),
    ...(withScore ? [number(score)] : []),
    ...(withRoom ? [number(availableReplicas)] : []),
    reason,
    message,
  ]);
  return formatColumns([header, ...rows]);
}

/** One line for clusters that the same policies change. */
function explainOverrides(overrides: Surroundings['overrides'], asked: (cluster: string) => boolean): string {
  const changed = [...overrides].filter(([cluster, policies]) => asked(cluster) && policies.length > 0);
  const byPolicies = Map.groupBy(changed, ([, policies]) => policies.join(', '));
  return [...byPolicies]
    .map(([policies, all]) => paragraph(`Overridden in ${all.map(([cluster]) => cluster).join(', ')} by ${policies}`))
    .join('');
}
