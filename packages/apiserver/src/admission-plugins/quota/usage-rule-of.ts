import type { Amounts } from '../pod-amounts.ts';
import { claimUsage } from './claim-usage.ts';
import { deviceUsage } from './device-usage.ts';
import { podUsage } from './pod-usage.ts';
import { serviceUsage } from './service-usage.ts';
import { isCreated, ONE, type UsageRule } from './usage-rule.ts';

const RULES: Readonly<Record<string, UsageRule>> = {
  pods: podUsage,
  services: serviceUsage,
  persistentvolumeclaims: claimUsage,
  'resourceclaims.resource.k8s.io': deviceUsage,
};

/** Resources whose number has a name of its own, older than `count/`. */
const NAMED = new Set(['configmaps', 'secrets', 'replicationcontrollers', 'resourcequotas']);

/** Events are never charged, as upstream. */
const FREE = new Set(['events']);

/** How objects of the resource are measured: of most only their number. Undefined where quotas do not look at them. */
export function usageRuleOf(groupResource: string): UsageRule | undefined {
  return FREE.has(groupResource) ? undefined : (RULES[groupResource] ?? countRule(groupResource));
}

function countRule(groupResource: string): UsageRule {
  const names = [`count/${groupResource}`, ...(NAMED.has(groupResource) ? [groupResource] : [])];
  const usage: Amounts = new Map(names.map((name) => [name, ONE]));
  return {
    isCharged: isCreated,
    measures: (name) => names.includes(name),
    usageOf: () => usage,
    isInScope: () => false,
  };
}

/** The resource that a bound of this name is on, '' where there is none. */
export function resourceBoundedBy(name: string): string {
  if (name.startsWith('count/')) return name.slice('count/'.length);
  if (NAMED.has(name)) return name;
  return Object.keys(RULES).find((resource) => RULES[resource]?.measures(name)) ?? '';
}
