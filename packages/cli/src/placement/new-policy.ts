import { API_VERSION, type Placement, type ResourceSelector } from '@asterism/fleet/api';
import type { Policy } from '@asterism/fleet/place';
import { type LabelRequirement, parseLabelSelector } from '@asterism/machinery';
import { isClusterExpression } from '../clusters-flag.ts';
import { CommandError, EXIT } from '../exit-code.ts';

/** How replicas are shared, as `--division` names it. */
export const DIVISIONS = ['duplicated', 'weighted', 'available', 'aggregated'] as const;

/** The flags that say what a policy shall say. */
export interface PolicyFlags {
  clusters?: string;
  division?: (typeof DIVISIONS)[number];
  weights?: string;
  dependencies?: boolean;
  preempt?: boolean;
  priority?: string;
  name?: string;
  selector?: string;
}

/** What a policy shall place: objects of one kind by name, or all of the kind that have the labels. */
export interface PolicyTarget {
  apiVersion: string;
  kind: string;
  names: readonly string[];
}

export interface PolicyIdentity {
  name: string;
  /** Undefined for templates that have none. */
  namespace: string | undefined;
}

/**
 * The policy that the flags describe.
 *
 * @param clusterNames those that `-C` names one by one; looked at where it is neither `all` nor an expression
 */
export function newPolicy(
  { name, namespace }: PolicyIdentity,
  targets: readonly PolicyTarget[],
  clusterNames: readonly string[],
  flags: PolicyFlags,
): Policy {
  const labelSelector = flags.selector === undefined ? undefined : selectorObject('-l', flags.selector);
  const resourceSelectors = targets.flatMap(({ apiVersion, kind, names }): ResourceSelector[] =>
    names.length > 0
      ? names.map((each) => ({ apiVersion, kind, name: each }))
      : [{ apiVersion, kind, ...(labelSelector ? { labelSelector } : {}) }],
  );
  const spec = {
    resourceSelectors,
    ...(flags.priority === undefined ? {} : { priority: wholeNumber('--priority', flags.priority) }),
    ...(flags.preempt ? { preemption: 'Always' as const } : {}),
    ...(flags.dependencies ? { propagateDeps: true } : {}),
    placement: { ...affinityOf(flags.clusters ?? 'all', clusterNames), ...schedulingOf(flags) },
  };
  return namespace === undefined
    ? { apiVersion: API_VERSION, kind: 'ClusterPropagationPolicy', metadata: { name }, spec }
    : { apiVersion: API_VERSION, kind: 'PropagationPolicy', metadata: { name, namespace }, spec };
}

function affinityOf(flag: string, clusterNames: readonly string[]): Pick<Placement, 'clusterAffinity'> {
  if (flag === 'all') return {};
  if (isClusterExpression(flag)) return { clusterAffinity: { labelSelector: selectorObject('-C', flag) } };
  return { clusterAffinity: { clusterNames: [...clusterNames] } };
}

function schedulingOf({ division, weights }: PolicyFlags): Pick<Placement, 'replicaScheduling'> {
  if (weights !== undefined && division !== undefined && division !== 'weighted') {
    throw new CommandError(`--weights go with --division weighted, not ${division}`, EXIT.usage);
  }
  const how = weights === undefined ? division : 'weighted';
  if (how === undefined || how === 'duplicated') return {};
  const divided = { replicaSchedulingType: 'Divided' } as const;
  if (how === 'aggregated') return { replicaScheduling: { ...divided, replicaDivisionPreference: 'Aggregated' } };
  const weightPreference = weightsOf(how, weights);
  const weighted = { ...divided, replicaDivisionPreference: 'Weighted' } as const;
  return { replicaScheduling: { ...weighted, ...(weightPreference ? { weightPreference } : {}) } };
}

type WeightPreference = NonNullable<NonNullable<Placement['replicaScheduling']>['weightPreference']>;

/** Without any, all clusters share alike. */
function weightsOf(how: PolicyFlags['division'], weights: string | undefined): WeightPreference | undefined {
  if (how === 'available') return { dynamicWeight: 'AvailableReplicas' };
  return weights === undefined ? undefined : { staticWeightList: readWeights(weights) };
}

/** `alder=2,birch=1`. */
function readWeights(text: string) {
  return text.split(',').map((part) => {
    const [, cluster, weight] = /^\s*([^=\s]+)=(\d+)\s*$/.exec(part) ?? [];
    if (cluster === undefined || weight === undefined) {
      throw new CommandError(
        `--weights: ${JSON.stringify(part)} is no CLUSTER=NUMBER, as in alder=2,birch=1`,
        EXIT.usage,
      );
    }
    return { targetCluster: { clusterNames: [cluster] }, weight: Number(weight) };
  });
}

function wholeNumber(flag: string, text: string): number {
  if (!/^-?\d{1,9}$/.test(text))
    throw new CommandError(`${flag}: ${JSON.stringify(text)} is no whole number`, EXIT.usage);
  return Number(text);
}

type LabelSelector = NonNullable<ResourceSelector['labelSelector']>;
type Expression = NonNullable<LabelSelector['matchExpressions']>[number];

const OPERATORS: ReadonlyMap<string, Expression['operator']> = new Map([
  ['in', 'In'],
  ['notin', 'NotIn'],
  ['!=', 'NotIn'],
  ['exists', 'Exists'],
  ['notexists', 'DoesNotExist'],
]);

/** A label expression, as kubectl writes it, as the object that policies hold. */
function selectorObject(flag: string, text: string): LabelSelector {
  const requirements = requirementsOf(flag, text);
  const equal = requirements.filter(({ operator }) => operator === '=');
  const expressions = requirements.filter(({ operator }) => operator !== '=').map((each) => expressionOf(flag, each));
  return {
    ...(equal.length > 0
      ? { matchLabels: Object.fromEntries(equal.map(({ key, values: [value = ''] }) => [key, value])) }
      : {}),
    ...(expressions.length > 0 ? { matchExpressions: expressions } : {}),
  };
}

function requirementsOf(flag: string, text: string): LabelRequirement[] {
  try {
    return parseLabelSelector(text);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new CommandError(`${flag}: ${JSON.stringify(text)} is no label expression: ${why}`, EXIT.usage, { cause });
  }
}

function expressionOf(flag: string, { key, operator, values }: LabelRequirement): Expression {
  const named = OPERATORS.get(operator);
  if (named) return { key, operator: named, ...(values.length > 0 ? { values: [...values] } : {}) };
  throw new CommandError(`${flag}: a policy cannot compare ${key} by ${operator}: list the values`, EXIT.usage);
}
