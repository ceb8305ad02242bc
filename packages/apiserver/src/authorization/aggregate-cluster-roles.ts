import {
  CLUSTER_ROLES,
  deepEqual,
  isConflict,
  isNotFound,
  type KubeObject,
  labelSelectorFromObject,
  matchesLabels,
} from '@asterism/machinery';
import type { UserInfo } from '../contract/user-info.ts';
import { followResource } from '../registry/follow-resource.ts';
import type { Registry } from '../registry/registry.ts';
import type { PolicyRule } from './policy-rule.ts';

type LabelSelectorObject = Parameters<typeof labelSelectorFromObject>[0];

/** The rules of all roles that one of the role's selectors picks, by name, each rule once; undefined for a role that is not aggregated. */
export function aggregateRules(role: KubeObject, roles: Iterable<KubeObject>): PolicyRule[] | undefined {
  const selectors = (role.aggregationRule as { clusterRoleSelectors?: LabelSelectorObject[] } | null | undefined)
    ?.clusterRoleSelectors;
  if (selectors === undefined) return undefined;
  const requirements = selectors.map((selector) => labelSelectorFromObject(selector));
  const picked = [...roles]
    .filter((other) => other.metadata?.name !== role.metadata?.name)
    .filter((other) => requirements.some((requirement) => matchesLabels(requirement, other.metadata?.labels ?? {})))
    .sort((a, b) => ((a.metadata?.name ?? '') < (b.metadata?.name ?? '') ? -1 : 1));
  const rules: PolicyRule[] = [];
  for (const other of picked) {
    for (const rule of (other.rules as PolicyRule[] | null | undefined) ?? []) {
      if (!rules.some((known) => deepEqual(known, rule))) rules.push(rule);
    }
  }
  return rules;
}

/**
 * Writes into each ClusterRole with an aggregationRule what it adds up to, whenever a role changes (upstream's
 * clusterrole-aggregation-controller). A write that loses against another is made again by the event of that other.
 */
export function startClusterRoleAggregation(options: {
  registry: Registry;
  user: UserInfo;
  signal: AbortSignal;
  onError(role: string, error: unknown): void;
}): { synced: Promise<void>; ended: Promise<void> } {
  const { registry, signal } = options;
  const roles = new Map<string, KubeObject>();
  let running: Promise<void> | undefined;
  let again = false;
  const reconcileAll = async (): Promise<void> => {
    do {
      again = false;
      for (const role of roles.values()) await reconcile(role);
    } while (again && !signal.aborted);
    running = undefined;
  };
  const reconcile = async (role: KubeObject): Promise<void> => {
    const rules = aggregateRules(role, roles.values());
    if (rules === undefined || deepEqual(rules, role.rules ?? []) || signal.aborted) return;
    const name = role.metadata?.name ?? '';
    try {
      const resource = registry.find(CLUSTER_ROLES.group, CLUSTER_ROLES.version, CLUSTER_ROLES.resource)!;
      const context = { name, user: options.user, fieldManager: 'clusterrole-aggregation-controller' };
      await registry.update(resource, { name }, { ...role, rules }, context);
    } catch (error) {
      if (!isConflict(error) && !isNotFound(error)) options.onError(name, error);
    }
  };
  const changed = (): void => {
    again = true;
    running ??= Promise.resolve().then(reconcileAll);
  };
  const following = followResource(
    registry,
    CLUSTER_ROLES,
    {
      onApply: (role) => {
        // Who owns which field is half of a role, and an update that does not say keeps it.
        const { managedFields: _, ...metadata } = role.metadata ?? {};
        roles.set(metadata.name ?? '', { ...role, metadata });
        changed();
      },
      onDelete: (role) => {
        roles.delete(role.metadata.name ?? '');
        changed();
      },
    },
    signal,
  );
  return { synced: following.synced.then(() => running), ended: following.ended.then(() => running) };
}
