import {
  addQuantities,
  deepEqual,
  formatGroupResource,
  formatQuantity,
  isConflict,
  isNotFound,
  type KubeObject,
  parseQuantity,
  type Quantity,
  RESOURCE_QUOTAS,
} from '@asterism/machinery';
import type { Controller, ControllerOptions } from '../../controllers/controller-options.ts';
import { KeyedWork } from '../../controllers/keyed-work.ts';
import { requireResource } from '../../registry/require-resource.ts';
import { optionalFields } from '../../kinds/fields/draft-fields.ts';
import { isInScopes, scopesOf } from './quota-view.ts';
import { resourceBoundedBy, usageRuleOf } from './usage-rule-of.ts';
import type { ServedResource } from '../../contract/served-resource.ts';

const ZERO = parseQuantity('0');

export interface QuotaCounter extends Controller {
  /** Counts again in a namespace. */
  add(namespace: string): void;
}

/**
 * Keeps `status` of ResourceQuotas: what is bounded, and how much of it the objects of the namespace use. It counts them anew
 * whenever it is asked to; what is created meanwhile is charged by admission, and then this counts again.
 */
export function createQuotaCounter(options: ControllerOptions): QuotaCounter {
  const { registry, signal, onError } = options;
  const quotas = requireResource(registry, RESOURCE_QUOTAS);
  const work = new KeyedWork({
    async work(namespace) {
      const { items } = await registry.list(quotas, { namespace });
      for (const item of items) {
        const counted = await countAgain(options, quotas, item.parse());
        if (!counted) work.add(namespace);
      }
    },
    onError: (namespace, error) => onError(`the quotas of namespace ${namespace}`, error),
    signal,
  });
  return { add: (namespace) => work.add(namespace), settled: () => work.settled() };
}

/** Resolves with false where the quota was changed meanwhile. */
async function countAgain(options: ControllerOptions, quotas: ServedResource, quota: KubeObject): Promise<boolean> {
  const { registry, user } = options;
  const { namespace = '', name = '' } = quota.metadata ?? {};
  const hard = optionalFields(optionalFields(quota, 'spec'), 'hard') ?? {};
  const used = await usedOf(options, quota, Object.keys(hard));
  const before = optionalFields(quota, 'status');
  if (deepEqual(hard, before?.hard ?? {}) && deepEqual(used, before?.used ?? {})) return true;
  const body = { ...quota, status: Object.keys(hard).length > 0 ? { hard, used } : {} };
  const context = { user, namespace, name, subresource: 'status', fieldManager: 'kube-controller-manager' };
  try {
    await registry.update(quotas, { namespace, name }, body, context);
    return true;
  } catch (error) {
    if (isConflict(error)) return false;
    if (isNotFound(error)) return true;
    throw error;
  }
}

/** How much of each of the bounds the objects of the quota's namespace use; a bound on what is not served has no number. */
async function usedOf(
  { registry, clock }: ControllerOptions,
  quota: KubeObject,
  names: readonly string[],
): Promise<Record<string, string>> {
  const namespace = quota.metadata?.namespace;
  const scopes = scopesOf(quota);
  const totals = new Map<string, Quantity>();
  for (const [groupResource, bounds] of Map.groupBy(names, resourceBoundedBy)) {
    const resource = servedAs(registry, groupResource);
    const rule = usageRuleOf(groupResource);
    if (resource === undefined || rule === undefined) continue;
    for (const bound of bounds) totals.set(bound, ZERO);
    for (const item of (await registry.list(resource, { namespace })).items) {
      const object = item.parse();
      if (!isInScopes(rule, object, scopes)) continue;
      for (const [name, amount] of rule.usageOf(object, clock())) {
        const total = totals.get(name);
        if (total !== undefined && bounds.includes(name)) totals.set(name, addQuantities(total, amount));
      }
    }
  }
  return Object.fromEntries([...totals].map(([name, total]) => [name, formatQuantity(total)]));
}

function servedAs(registry: ControllerOptions['registry'], groupResource: string): ServedResource | undefined {
  return registry.served().find(({ type, verbs }) => {
    return type.namespaced && verbs.includes('list') && formatGroupResource(type) === groupResource;
  });
}
