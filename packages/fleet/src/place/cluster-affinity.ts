import { formatLabelSelector, matchesLabels } from '@asterism/machinery';
import type { Cluster, ClusterAffinity } from '../api/index.ts';
import { readLabelSelector } from './label-selector.ts';

type FieldExpression = NonNullable<NonNullable<ClusterAffinity['fieldSelector']>['matchExpressions']>[number];

/** What does not hold of a cluster, in words; undefined where all of it holds. */
export type AffinityTest = (cluster: Cluster) => string | undefined;

/** Whether all that the affinity asks for holds of the cluster. An absent or empty affinity holds of every cluster. */
export function matchesClusterAffinity(affinity: ClusterAffinity | undefined, cluster: Cluster): boolean {
  return affinityTest(affinity)(cluster) === undefined;
}

/** Reads the affinity once, for many clusters. */
export function affinityTest(affinity: ClusterAffinity | undefined): AffinityTest {
  if (!affinity) return () => undefined;
  const excluded = new Set(affinity.exclude);
  const names = new Set(affinity.clusterNames);
  const notNamed = `it is not one of the clusters named: ${listOf([...names])}`;
  const whyLabelsDiffer = labelTest(affinity);
  return (cluster) => {
    const { name = '' } = cluster.metadata;
    if (excluded.size > 0 && excluded.has(name)) return 'it is excluded by name';
    if (names.size > 0 && !names.has(name)) return notNamed;
    return whyLabelsDiffer(cluster) ?? whyFieldsDiffer(affinity, cluster);
  };
}

/** How many names a reason lists: it stands in every binding once for each cluster. */
const NAMES_LISTED = 5;

function listOf(names: readonly string[]): string {
  const more = names.length - NAMES_LISTED;
  return more > 0 ? `${names.slice(0, NAMES_LISTED).join(', ')} and ${more} more` : names.join(', ');
}

export type TieredAffinity = ClusterAffinity & { overflowAffinities?: readonly ClusterAffinity[] | undefined };

/** The tier of a cluster: 0 within the affinity, from 1 the first of its overflow groups that it is in; else why it is in none. */
export type TierTest = (cluster: Cluster) => number | string;

/** Reads the affinity and its overflow groups once, for many clusters. */
export function tierTest(affinity: TieredAffinity | undefined): TierTest {
  const tests = [affinity, ...(affinity?.overflowAffinities ?? [])].map(affinityTest);
  const [first = () => undefined] = tests;
  if (tests.length === 1) return (cluster) => first(cluster) ?? 0;
  return (cluster) => {
    const tier = tests.findIndex((whyOutside) => whyOutside(cluster) === undefined);
    return tier >= 0 ? tier : `${first(cluster) ?? ''}; nor is it in an overflow group`;
  };
}

function labelTest({ labelSelector }: ClusterAffinity): AffinityTest {
  const requirements = labelSelector ? readLabelSelector(labelSelector) : [];
  if ('fault' in requirements) {
    return () => `the label selector of the affinity cannot be read: ${requirements.fault}`;
  }
  return ({ metadata: { labels } }) => {
    if (matchesLabels(requirements, labels)) return undefined;
    const failed = requirements.find((requirement) => !matchesLabels([requirement], labels));
    if (!failed) return undefined;
    const value = labels?.[failed.key];
    const has = value === undefined ? 'it has no such label' : `its value is ${JSON.stringify(value)}`;
    return `its labels do not match ${formatLabelSelector([failed])}: ${has}`;
  };
}

function whyFieldsDiffer({ fieldSelector }: ClusterAffinity, cluster: Cluster): string | undefined {
  for (const expression of fieldSelector?.matchExpressions ?? []) {
    const values = fieldValues(cluster, expression.key);
    if (fieldHolds(expression, values)) continue;
    const wanted = `${expression.key} ${expression.operator} ${(expression.values ?? []).join(', ')}`.trim();
    return `${wanted} does not hold: its ${expression.key} is ${values.length > 0 ? values.join(', ') : 'not set'}`;
  }
  return undefined;
}

/** A cluster may span several zones; provider and region are one at most. */
function fieldValues({ spec }: Cluster, key: FieldExpression['key']): string[] {
  if (key === 'zone') return spec.zones ?? [];
  const value = spec[key];
  return value ? [value] : [];
}

/** A cluster of several zones is `In` when all of its zones are: else a part of it would lie outside. */
function fieldHolds({ operator, values: wanted = [] }: FieldExpression, values: readonly string[]): boolean {
  switch (operator) {
    case 'In':
      return values.length > 0 && values.every((value) => wanted.includes(value));
    case 'NotIn':
      return !values.some((value) => wanted.includes(value));
    case 'Exists':
      return values.length > 0;
    case 'DoesNotExist':
      return values.length === 0;
  }
}
