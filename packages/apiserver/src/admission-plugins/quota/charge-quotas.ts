import {
  addQuantities,
  compareQuantities,
  formatQuantity,
  type KubeObject,
  parseQuantity,
  type Quantity,
  type StatusError,
} from '@asterism/machinery';
import { formatGroupResource } from '@asterism/machinery';
import { optionalFields } from '../../kinds/fields/draft-fields.ts';
import { refusal } from '../admission-plugin.ts';
import { type Amounts, amountsAt } from '../pod-amounts.ts';
import { isInScopes, scopesOf } from './quota-view.ts';
import type { UsageRule } from './usage-rule.ts';
import { usageRuleOf } from './usage-rule-of.ts';
import type { AdmissionRequest } from '../../contract/admission-step.ts';

/** A quota, and what of it is used with the write. */
export interface Charge {
  quota: KubeObject;
  used: Readonly<Record<string, string>>;
}

const ZERO = parseQuantity('0');

/** Whether a write can be charged to any quota. */
export function isCharged({ resource, operation, subresource }: AdmissionRequest): boolean {
  return usageRuleOf(formatGroupResource(resource.type))?.isCharged({ operation, subresource }) === true;
}

/** What the write costs of each quota of its namespace. Throws the 403 of the first that does not allow it. */
export function chargeQuotas(quotas: readonly KubeObject[], request: AdmissionRequest, now: number): Charge[] {
  const rule = usageRuleOf(formatGroupResource(request.resource.type));
  const { object } = request;
  if (rule === undefined || object === undefined) return [];
  const concerned = quotas.filter((quota) => isConcerned(quota, rule, object, request));
  if (concerned.length === 0) return [];
  const usage = rule.usageOf(object, now);
  const negative = [...usage].filter(([, amount]) => amount.nanos < 0n).map(([name]) => name);
  if (negative.length > 0) {
    throw refusal(request, `quota usage is negative for resource(s): ${negative.sort().join(',')}`);
  }
  return concerned.flatMap((quota) => {
    const cost = withoutZeros(costOf(quota, rule, usage, request, now));
    return cost.size === 0 ? [] : (charge(quota, cost, request) ?? []);
  });
}

/** Whether the quota bounds the object; throws where it cannot be told whether it allows it. */
function isConcerned(quota: KubeObject, rule: UsageRule, object: KubeObject, request: AdmissionRequest): boolean {
  const status = optionalFields(quota, 'status');
  const names = Object.keys(optionalFields(status, 'hard') ?? {}).filter((name) => rule.measures(name));
  if (names.length === 0 || !isInScopes(rule, object, scopesOf(quota))) return false;
  const fault = rule.faultOf?.(object, names);
  const name = quota.metadata?.name ?? '';
  if (fault !== undefined) throw refusal(request, `failed quota: ${name}: ${fault}`);
  const used = optionalFields(status, 'used') ?? {};
  if (names.every((each) => used[each] !== undefined)) return true;
  throw refusal(request, `status unknown for quota: ${name}, resources: ${names.sort().join(',')}`);
}

/** An update costs what it adds, where the quota was on the object before. */
function costOf(
  quota: KubeObject,
  rule: UsageRule,
  usage: Amounts,
  { operation, oldObject }: AdmissionRequest,
  now: number,
): Amounts {
  if (operation !== 'UPDATE' || oldObject === undefined || !isInScopes(rule, oldObject, scopesOf(quota))) return usage;
  const before = rule.usageOf(oldObject, now);
  const added = new Map<string, Quantity>();
  for (const [name, { nanos, format }] of usage) {
    const more = nanos - (before.get(name)?.nanos ?? 0n);
    added.set(name, { nanos: more > 0n ? more : 0n, format });
  }
  return added;
}

function withoutZeros(amounts: Amounts): Amounts {
  return new Map([...amounts].filter(([, { nanos }]) => nanos !== 0n));
}

/** Undefined where nothing that is used is bounded. */
function charge(quota: KubeObject, cost: Amounts, request: AdmissionRequest): Charge | undefined {
  const status = optionalFields(quota, 'status');
  const hard = amountsAt(status, 'hard');
  const used = amountsAt(status, 'used');
  const after: Record<string, string> = { ...(optionalFields(status, 'used') as Record<string, string> | undefined) };
  const exceeded: string[] = [];
  let charged = false;
  for (const [name, bound] of [...hard].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const more = cost.get(name);
    if (more === undefined) continue;
    const sum = addQuantities(used.get(name) ?? ZERO, more);
    if (compareQuantities(sum, bound) > 0) exceeded.push(name);
    after[name] = formatQuantity(sum);
    charged = true;
  }
  if (exceeded.length > 0) throw exceeds(quota, exceeded, { requested: cost, used, limited: hard }, request);
  return charged ? { quota, used: after } : undefined;
}

function exceeds(
  quota: KubeObject,
  names: readonly string[],
  amounts: Readonly<Record<'requested' | 'used' | 'limited', Amounts>>,
  request: AdmissionRequest,
): StatusError {
  const parts = Object.entries(amounts).map(([what, of]) => {
    const each = names.map((name) => `${name}=${formatQuantity(of.get(name) ?? ZERO)}`);
    return `${what}: ${each.join(',')}`;
  });
  return refusal(request, `exceeded quota: ${quota.metadata?.name ?? ''}, ${parts.join(', ')}`);
}
