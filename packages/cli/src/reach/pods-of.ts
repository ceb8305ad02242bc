import type { Client } from '@asterism/client';
import {
  findCondition,
  formatLabelSelector,
  type KubeObject,
  type LabelSelector,
  labelSelectorFromObject,
  type Pod,
  PODS,
  REPLICATION_CONTROLLERS,
  type ResourceType,
  SERVICES,
} from '@asterism/machinery';
import { CommandError } from '../exit-code.ts';
import type { Target } from './target.ts';

/** Which pod comes first: `active`, where a command would fare best; `telling`, where a log would tell most, as kubectl has them. */
export type PodOrder = 'active' | 'telling';

/** The pods of what was found, in that order. A pod is its own. Throws where it has no selector, or no pods. */
export async function podsOf(
  member: Client,
  { type, name }: Target,
  object: KubeObject,
  order: PodOrder,
): Promise<[Pod, ...Pod[]]> {
  if (type.resource === PODS.resource) return [object as Pod];
  const { namespace } = object.metadata ?? {};
  const labelSelector = selectorOf(type, object);
  if (labelSelector === '') throw new CommandError(`${type.kind} ${name} has no selector, and so no pods of its own`);
  const { items } = await member.resource(PODS).list({ namespace, labelSelector });
  const [first, ...rest] = sortPods(items, order);
  if (first === undefined) throw new CommandError(`${type.kind} ${name} has no pods (${labelSelector})`);
  return [first, ...rest];
}

function selectorOf(type: ResourceType, object: KubeObject): string {
  const { selector = {} } = ((object as { spec?: unknown }).spec ?? {}) as { selector?: object };
  const isPlain = type.resource === SERVICES.resource || type.resource === REPLICATION_CONTROLLERS.resource;
  const whole = isPlain ? { matchLabels: selector } : selector;
  return formatLabelSelector(labelSelectorFromObject(whole as LabelSelector));
}

/**
 * By what upstream looks at (`podutils.ActivePods`, turned round, and `ByLogging`): has a node; runs, is of an unknown phase, is
 * pending; is ready; has been for long; restarted rarely (for its log: often); is old. Then by name.
 */
export function sortPods(pods: readonly Pod[], order: PodOrder): Pod[] {
  const ranked = pods.map((pod) => ({ pod, rank: rankOf(pod, order) }));
  ranked.sort((a, b) => {
    const at = a.rank.findIndex((value, index) => value !== b.rank[index]);
    if (at >= 0) return (a.rank[at] ?? 0) - (b.rank[at] ?? 0);
    return nameOf(a.pod) < nameOf(b.pod) ? -1 : 1;
  });
  return ranked.map(({ pod }) => pod);
}

const nameOf = ({ metadata }: Pod): string => metadata?.name ?? '';

const PHASES = ['Running', 'Unknown', 'Pending'];

/** The less the better. */
function rankOf({ metadata, spec, status }: Pod, order: PodOrder): number[] {
  const ready = findCondition(status?.conditions, 'Ready');
  const isReady = ready?.status === 'True';
  const phase = PHASES.indexOf(status?.phase ?? 'Unknown');
  const restarts = Math.max(0, ...(status?.containerStatuses ?? []).map(({ restartCount }) => restartCount ?? 0));
  return [
    spec?.nodeName ? 0 : 1,
    phase < 0 ? PHASES.length : phase,
    isReady ? 0 : 1,
    isReady ? timeOf(ready.lastTransitionTime) : 0,
    order === 'active' ? restarts : -restarts,
    timeOf(metadata?.creationTimestamp),
  ];
}

/** What has no time comes last. */
function timeOf(time: string | undefined): number {
  return time === undefined ? Number.MAX_SAFE_INTEGER : Date.parse(time);
}
