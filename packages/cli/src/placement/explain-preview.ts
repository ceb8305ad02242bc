import { clusterChanges, isChanged, type PassedOver, type PlacementPreview, type Policy } from '@asterism/fleet/place';
import { formatColumns } from '../output/columns.ts';
import { oneLine } from '../output/one-line.ts';
import { explainRights } from './explain-rights.ts';

/** One cluster's part in a preview. */
export interface PreviewRow {
  cluster: string;
  before: string;
  after: string;
  reason: string;
  message: string;
}

const NOT_THERE = '-';
const GONE = { reason: 'Gone', message: 'it is not in the fleet' };
const NO_POLICY = { reason: 'NoPolicy', message: 'no policy places it, and nothing needs it' };

/**
 * The clusters that a preview is about: those that have the template now or then, those where a right is missing, or, if asked, every one with
 * its reason.
 */
export function previewRows(preview: PlacementPreview, everyCluster: boolean): PreviewRow[] {
  const decisions = new Map((preview.after?.spec.decisions ?? []).map((decision) => [decision.cluster, decision]));
  const changes = new Map(clusterChanges(preview).map((change) => [change.cluster, change]));
  const isAsked = ({ reason }: { reason: string }): boolean => everyCluster || reason === 'NotPermitted';
  const asked = [...decisions.values()].filter(isAsked).map(({ cluster }) => cluster);
  const names = new Set([...asked, ...changes.keys()]);
  return [...names].sort().map((cluster) => {
    const { before, after } = changes.get(cluster) ?? {};
    const { reason, message } = decisions.get(cluster) ?? (preview.after ? GONE : NO_POLICY);
    return { cluster, before: cell(before), after: cell(after), reason, message };
  });
}

function cell(target: { replicas?: number } | undefined): string {
  return target === undefined ? NOT_THERE : String(target.replicas ?? 'yes');
}

/** What would become of one template, for a person. */
export function explainPreview(preview: PlacementPreview, everyCluster: boolean): string {
  const { after } = preview;
  const { replicas, unschedulable } = after?.spec ?? {};
  const shares = replicas === undefined ? '' : `, ${replicas} replicas`;
  const refusal = unschedulable ? `; it cannot be placed so: ${unschedulable.message}` : '';
  const head = oneLine(`${formatTemplate(preview)}${shares}: ${whoPlaces(preview)}${refusal}`);
  const rows = previewRows(preview, everyCluster).map((row) => [
    row.cluster,
    row.before,
    row.after,
    row.reason,
    row.message,
  ]);
  const columns = rows.length === 0 ? '' : formatColumns([['CLUSTER', 'NOW', 'THEN', 'REASON', 'WHY'], ...rows]);
  const rights = explainRights(after?.spec ?? {}).map(oneLine);
  return [head, columns, explainPassedOver(preview.passedOver), ...rights].join('');
}

/** A line for each policy that selects the template and does not place it. */
export function explainPassedOver(passedOver: readonly PassedOver[]): string {
  return passedOver.map(({ policy, why }) => oneLine(`Not by ${formatPolicy(policy)}: it ${why}`)).join('');
}

function whoPlaces({ before, after, policy }: PlacementPreview): string {
  const now = before ? placerOf(before.spec) : 'nobody';
  if (!after) return `placed nowhere; now by ${now}`;
  const then = policy ? formatPolicy(policy) : placerOf(after.spec);
  const isSame = before !== undefined && before.spec.policy?.uid === after.spec.policy?.uid && now === then;
  return isSame ? `placed by ${then}, as now` : `placed by ${then}; now by ${now}`;
}

function placerOf({ policy }: NonNullable<PlacementPreview['before']>['spec']): string {
  return policy ? `${policy.kind} ${policy.name}` : 'what needs it';
}

export function formatPolicy({ kind, metadata }: Policy): string {
  return `${kind} ${metadata.name}`;
}

function formatTemplate({ template: { kind, metadata } }: PlacementPreview): string {
  return `${kind} ${metadata?.namespace ? `${metadata.namespace}/` : ''}${metadata?.name}`;
}

/** The same for programs. Without `everyCluster` only clusters that have the template now or then, or where a right is missing. */
export function previewAsJson(preview: PlacementPreview, everyCluster: boolean): object {
  const { template, before, after, passedOver } = preview;
  const { apiVersion, kind, metadata: { namespace, name } = {} } = template;
  const decisions = new Map((after?.spec.decisions ?? []).map((decision) => [decision.cluster, decision]));
  const changes = new Map(clusterChanges(preview).map((change) => [change.cluster, change]));
  const clusters = previewRows(preview, everyCluster).map(({ cluster, reason, message }) => {
    const { before: now, after: then } = changes.get(cluster) ?? {};
    return { cluster, before: now ?? null, after: then ?? null, ...decisions.get(cluster), reason, message };
  });
  return {
    template: { apiVersion, kind, ...(namespace ? { namespace } : {}), name },
    changed: isChanged(preview),
    policy: { before: before?.spec.policy ?? null, after: after?.spec.policy ?? null },
    ...(after?.spec.replicas === undefined ? {} : { replicas: after.spec.replicas }),
    ...(after?.spec.unschedulable ? { unschedulable: after.spec.unschedulable } : {}),
    ...(after?.spec.authority === undefined ? {} : { authority: after.spec.authority }),
    ...(after?.spec.withheld ? { withheld: after.spec.withheld } : {}),
    clusters,
    passedOver: passedOver.map(({ policy, why }) => ({
      kind: policy.kind,
      ...(policy.metadata.namespace ? { namespace: policy.metadata.namespace } : {}),
      name: policy.metadata.name,
      why,
    })),
  };
}
