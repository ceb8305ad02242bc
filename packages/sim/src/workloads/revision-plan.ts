import type { ControllerRevision, KubeObject, PodTemplateSpec } from '@asterism/machinery';
import { controllerReference } from './owned.ts';
import { stableSuffix } from './stable-suffix.ts';

/** A workload whose templates are kept as ControllerRevisions. */
export type Revised = KubeObject & { spec?: { template?: PodTemplateSpec; revisionHistoryLimit?: number } };

export interface RevisionPlan {
  /** The revision of the template as it is. */
  update: ControllerRevision;
  /** Whether `update` has to be made, or only its number has to be raised: it is an old template that came back. */
  write: 'create' | 'renumber' | undefined;
  remove: ControllerRevision[];
}

/**
 * The history of a workload's templates, one ControllerRevision for each.
 *
 * H1. A revision is named after its template: the same template, the same revision, whoever asks how often.
 * H2. The newest has the highest number; one that comes back is renumbered, as `rollout undo` shows.
 * H3. Beyond `revisionHistoryLimit`, those that no pod has (`inUse`, by name) go, the oldest first.
 */
export function planRevisions(
  owner: Revised,
  owned: readonly ControllerRevision[],
  inUse: ReadonlySet<string>,
  hashLabel: string,
): RevisionPlan {
  const wanted = revisionOf(owner, hashLabel);
  const name = wanted.metadata?.name ?? '';
  const highest = Math.max(0, ...owned.map(({ revision }) => revision));
  const present = owned.find(({ metadata }) => metadata?.name === name);
  const others = owned
    .filter((each) => each !== present && !inUse.has(each.metadata?.name ?? ''))
    .toSorted((a, b) => a.revision - b.revision);
  const surplus = Math.max(0, others.length - (owner.spec?.revisionHistoryLimit ?? 10));
  const remove = others.slice(0, surplus);
  if (present === undefined) return { update: { ...wanted, revision: highest + 1 }, write: 'create', remove };
  if (present.revision === highest) return { update: present, write: undefined, remove };
  return { update: { ...present, revision: highest + 1 }, write: 'renumber', remove };
}

/** Names the template of a workload. */
export function templateHash(template: PodTemplateSpec | undefined): string {
  return stableSuffix(canonicalJson(template ?? {}), 10);
}

/** As a strategic merge patch that brings the template back, which is how kubectl undoes a rollout. */
function revisionOf(owner: Revised, hashLabel: string): ControllerRevision {
  const { name, namespace = '', annotations } = owner.metadata ?? {};
  const template = owner.spec?.template ?? {};
  const hash = templateHash(owner.spec?.template);
  const kept = Object.entries(annotations ?? {}).filter(
    ([key]) => !key.startsWith('kubectl.kubernetes.io/last-applied'),
  );
  return {
    apiVersion: 'apps/v1',
    kind: 'ControllerRevision',
    metadata: {
      name: `${name}-${hash}`,
      namespace,
      labels: { ...template.metadata?.labels, [hashLabel]: hash },
      ...(kept.length > 0 ? { annotations: Object.fromEntries(kept) } : {}),
      ownerReferences: [controllerReference(owner)],
    },
    data: { spec: { template: { ...template, $patch: 'replace' } } },
    revision: 0,
  };
}

/** The template that a revision keeps. */
export function templateOf({ data }: ControllerRevision): PodTemplateSpec {
  const { $patch: _, ...template } =
    (data as { spec?: { template?: PodTemplateSpec & { $patch?: string } } }).spec?.template ?? {};
  return template;
}

/** JSON in which equal values are equal texts: keys sorted at every depth. */
function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, child: unknown) =>
    typeof child === 'object' && child !== null && !Array.isArray(child)
      ? Object.fromEntries(Object.entries(child).sort(([a], [b]) => (a < b ? -1 : 1)))
      : child,
  );
}
