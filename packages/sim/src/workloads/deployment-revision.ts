import type { Deployment, ReplicaSet } from '@asterism/machinery';
import { rollingLimits } from './rollout.ts';

/** The number of a Deployment's template among those that it has had; `rollout history` and `undo` go by it. */
export const REVISION = 'deployment.kubernetes.io/revision';
const REVISION_HISTORY = 'deployment.kubernetes.io/revision-history';
const DESIRED = 'deployment.kubernetes.io/desired-replicas';
const MOST = 'deployment.kubernetes.io/max-replicas';

/** Of a Deployment's annotations, those that its ReplicaSets do not take over. */
const OWN: ReadonlySet<string> = new Set([
  'kubectl.kubernetes.io/last-applied-configuration',
  REVISION,
  REVISION_HISTORY,
  DESIRED,
  MOST,
  'deprecated.deployment.rollback.to',
]);

export const revisionOf = (set: ReplicaSet): number => Number(set.metadata?.annotations?.[REVISION] ?? 0) || 0;

/** The newest template has the highest number: one that comes back gets a new one. */
export function nextRevision(current: ReplicaSet | undefined, old: readonly ReplicaSet[]): number {
  const highest = Math.max(0, ...old.map(revisionOf));
  return Math.max(highest + 1, current === undefined ? 0 : revisionOf(current));
}

/** What is written on the ReplicaSet of the template of now: its number, the numbers that it had, what the Deployment says. */
export function revisionAnnotations(
  { metadata, spec }: Deployment,
  current: ReplicaSet | undefined,
  revision: number,
): Record<string, string> {
  const replicas = spec?.replicas ?? 1;
  const before = current === undefined ? 0 : revisionOf(current);
  const history = current?.metadata?.annotations?.[REVISION_HISTORY];
  const carried = Object.entries(metadata?.annotations ?? {}).filter(([key]) => !OWN.has(key));
  return {
    ...Object.fromEntries(carried),
    [REVISION]: String(revision),
    [DESIRED]: String(replicas),
    [MOST]: String(replicas + rollingLimits(replicas, spec?.strategy?.rollingUpdate).maxSurge),
    ...(before > 0 && before !== revision
      ? { [REVISION_HISTORY]: history === undefined ? String(before) : `${history},${before}` }
      : {}),
  };
}
