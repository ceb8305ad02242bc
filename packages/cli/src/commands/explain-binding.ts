import { type ClusterResourceBinding, formatUnappliedOverride, type ResourceBinding } from '@asterism/fleet/api';
import { findCondition } from '@asterism/machinery';
import { formatColumns } from '../output/columns.ts';

export type Binding = ResourceBinding | ClusterResourceBinding;

/**
 * For every cluster, or only for those named: whether the template goes there and why; then what is held back, what stands in
 * the way where it goes and is not applied, and which overrides changed nothing there.
 *
 * @param what - the template, as the first line names it.
 */
export function explainBinding({ spec, status }: Binding, what: string, only: readonly string[] | undefined): string {
  const policy = spec.policy ? `${spec.policy.kind} ${spec.policy.name}` : 'what depends on it';
  const scheduled = findCondition(status?.conditions, 'Scheduled');
  const replicas = spec.replicas === undefined ? '' : `, ${spec.replicas} replicas`;
  const head = `${what}${replicas}, placed by ${policy}${scheduled ? `: ${scheduled.message}` : ''}\n\n`;
  const asked = (cluster: string): boolean => only?.includes(cluster) ?? true;
  const rows = (spec.decisions ?? [])
    .filter(({ cluster }) => asked(cluster))
    .map(({ cluster, selected, reason, message }) => [
      cluster,
      selected ? 'yes' : 'no',
      String(spec.clusters?.find(({ name }) => name === cluster)?.replicas ?? (selected ? '-' : 0)),
      reason,
      message,
    ]);
  const delivered = findCondition(status?.conditions, 'FullyApplied');
  const held = delivered?.reason === 'SuspendDispatching' ? `\nHeld back: ${delivered.message}\n` : '';
  const hindered = (status?.aggregatedStatus ?? [])
    .filter(({ clusterName, applied, appliedMessage }) => asked(clusterName) && !applied && appliedMessage)
    .map(({ clusterName, appliedMessage }) => `\nNot applied in ${clusterName}: ${appliedMessage}\n`);
  const idle = (status?.unappliedOverrides ?? []).flatMap((unapplied) => {
    const clusters = unapplied.reason === 'NoEffect' ? unapplied.clusters.filter(asked) : [];
    return clusters.length > 0
      ? [`\nNo effect in ${clusters.join(', ')}: ${formatUnappliedOverride(unapplied)}\n`]
      : [];
  });
  const columns = formatColumns([['CLUSTER', 'CHOSEN', 'REPLICAS', 'REASON', 'WHY'], ...rows]);
  return head + columns + held + hindered.join('') + idle.join('');
}
