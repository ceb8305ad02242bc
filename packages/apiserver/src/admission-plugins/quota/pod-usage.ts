import type { KubeObject, Quantity } from '@asterism/machinery';
import { type Fields, listAt, numberAt, optionalFields, textAt } from '../../kinds/fields/draft-fields.ts';
import { qualityOfService } from '../../kinds/pod/pod-quality.ts';
import { isExtendedResource, isHugePages } from '../../kinds/pod-spec/resource-names.ts';
import { type Amounts, amountsAt, podAmounts } from '../pod-amounts.ts';
import { isRequired } from './is-required.ts';
import { ONE, type ScopeRequirement, type UsageRule } from './usage-rule.ts';

const COUNT = 'count/pods';
const COMPUTE = ['cpu', 'memory', 'ephemeral-storage'];
const NAMES = new Set([COUNT, 'pods', ...COMPUTE.flatMap((name) => [name, `requests.${name}`, `limits.${name}`])]);
/** Where a quota is on one of these, every container has to say how much it takes. */
const DEMANDED = new Set(['cpu', 'memory'].flatMap((name) => [name, `requests.${name}`, `limits.${name}`]));

/** Pods by what they request and are limited to, while they live. */
export const podUsage: UsageRule = {
  isCharged: ({ operation, subresource }) =>
    subresource === undefined ? operation === 'CREATE' : operation === 'UPDATE' && subresource === 'resize',

  measures: (name) =>
    NAMES.has(name) ||
    isHugePages(name) ||
    name.startsWith('requests.hugepages-') ||
    (name.startsWith('requests.') && isExtendedResource(name.slice('requests.'.length))),

  usageOf(pod, now) {
    if (isOver(pod, now)) return new Map([[COUNT, ONE]]);
    const spec = optionalFields(pod, 'spec') ?? {};
    return new Map([[COUNT, ONE], ...computeUsage(podAmounts(spec, 'requests'), podAmounts(spec, 'limits'))]);
  },

  isInScope: (pod, requirement) => isInScope(optionalFields(pod, 'spec') ?? {}, requirement),

  faultOf(pod, names) {
    const spec = optionalFields(pod, 'spec') ?? {};
    const ofPod = usedNames(spec);
    const demanded = names.filter((name) => DEMANDED.has(name) && !ofPod.has(name)).sort();
    const containers = [...listAt(spec, 'containers'), ...listAt(spec, 'initContainers')];
    const missing = demanded.flatMap((name) => {
      const without = containers.filter((container) => !usedNames(container).has(name));
      const who = [...new Set(without.map((container) => textAt(container, 'name')))].sort();
      return who.length > 0 ? [`${name} for: ${who.join(',')}`] : [];
    });
    return missing.length > 0 ? `must specify ${missing.join('; ')}` : undefined;
  },
};

/** Of a container, or of a pod as a whole. */
function usedNames(parent: Fields): ReadonlySet<string> {
  const resources = optionalFields(parent, 'resources');
  return new Set(computeUsage(amountsAt(resources, 'requests'), amountsAt(resources, 'limits')).keys());
}

/** A request counts under its own name and as `requests.…`, what only some nodes have as the latter alone. */
function computeUsage(requests: Amounts, limits: Amounts): Map<string, Quantity> {
  const usage = new Map<string, Quantity>([['pods', ONE]]);
  for (const [name, amount] of requests) {
    const isOwn = COMPUTE.includes(name) || isHugePages(name);
    if (isOwn) usage.set(name, amount);
    if (isOwn || isExtendedResource(name)) usage.set(`requests.${name}`, amount);
  }
  for (const [name, amount] of limits) if (COMPUTE.includes(name)) usage.set(`limits.${name}`, amount);
  return usage;
}

/** A pod that has ended, or should have, takes nothing but its place in the storage. */
function isOver({ metadata, status }: KubeObject, now: number): boolean {
  const { phase } = (status ?? {}) as { phase?: string };
  if (phase === 'Failed' || phase === 'Succeeded') return true;
  const { deletionTimestamp, deletionGracePeriodSeconds } = metadata ?? {};
  if (deletionTimestamp === undefined || deletionGracePeriodSeconds === undefined) return false;
  return now > Date.parse(deletionTimestamp) + deletionGracePeriodSeconds * 1000;
}

function isInScope(spec: Fields, requirement: ScopeRequirement): boolean {
  const deadline = numberAt(spec, 'activeDeadlineSeconds');
  switch (requirement.scopeName) {
    case 'Terminating':
      return deadline !== undefined && deadline >= 0;
    case 'NotTerminating':
      return deadline === undefined || deadline < 0;
    case 'BestEffort':
      return qualityOfService(spec) === 'BestEffort';
    case 'NotBestEffort':
      return qualityOfService(spec) !== 'BestEffort';
    case 'PriorityClass':
      return isRequired(textAt(spec, 'priorityClassName'), requirement);
    case 'CrossNamespacePodAffinity':
      return looksAcrossNamespaces(spec);
    default:
      return false;
  }
}

/** Whether a pod wants to be near, or far from, pods of other namespaces. */
function looksAcrossNamespaces(spec: Fields): boolean {
  const affinity = optionalFields(spec, 'affinity');
  const kinds = [optionalFields(affinity, 'podAffinity'), optionalFields(affinity, 'podAntiAffinity')];
  const terms = kinds.flatMap((kind) => [
    ...listAt(kind, 'requiredDuringSchedulingIgnoredDuringExecution'),
    ...listAt(kind, 'preferredDuringSchedulingIgnoredDuringExecution').map(
      (preferred) => optionalFields(preferred, 'podAffinityTerm') ?? {},
    ),
  ]);
  return terms.some(({ namespaces, namespaceSelector }) => {
    return (Array.isArray(namespaces) && namespaces.length > 0) || (namespaceSelector ?? undefined) !== undefined;
  });
}
