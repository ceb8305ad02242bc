import type { Client } from '@asterism/client';
import { type Cluster, CLUSTERS } from '@asterism/fleet/api';
import { isStatusError, matchesLabels, parseLabelSelector } from '@asterism/machinery';
import { CommandError, EXIT } from './exit-code.ts';

/** Whether `-C` chooses by labels. */
export const isClusterExpression = (flag: string): boolean => /[=!<>()]|\s(in|notin)\s/.test(flag);

/**
 * The clusters that `-C` names: `all`, names with commas (`a,b`), or a label expression (`region=eu`, `tier in (a,b)`).
 * A word without an operator is a name; a name that no cluster has is an error, never an empty answer. Names of a caller who may
 * not list clusters are taken as they are: the hub says of each what may be done there.
 */
export async function resolveClusters(flag: string, hub: Client): Promise<string[]> {
  const isExpression = isClusterExpression(flag);
  const wanted = flag
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '');
  const areNames = flag !== 'all' && !isExpression && wanted.length > 0;
  const clusters = await hub
    .resource(CLUSTERS)
    .list()
    .catch((error: unknown) => {
      if (areNames && isStatusError(error, 'Forbidden')) return undefined;
      throw error;
    });
  if (clusters === undefined) return wanted;
  const { items } = clusters;
  const names = items.map((cluster) => cluster.metadata.name ?? '').sort();
  if (flag === 'all' && names.length === 0) throw new CommandError('-C all: no cluster has joined yet');
  if (flag === 'all') return names;
  if (isExpression) return matchingLabels(flag, items);
  const unknown = wanted.filter((name) => !names.includes(name));
  if (wanted.length === 0 || unknown.length > 0) {
    throw new CommandError(
      `no cluster ${unknown.map((name) => JSON.stringify(name)).join(', ') || 'named by -C'}: there ${
        names.length === 0 ? 'are none yet' : `are ${names.join(', ')}`
      }`,
      EXIT.usage,
    );
  }
  return wanted;
}

function matchingLabels(expression: string, clusters: readonly Cluster[]): string[] {
  const requirements = parseExpression(expression);
  const names = clusters
    .filter((cluster) => matchesLabels(requirements, cluster.metadata.labels ?? {}))
    .map((cluster) => cluster.metadata.name ?? '');
  if (names.length === 0) throw new CommandError(`no cluster has labels that match ${JSON.stringify(expression)}`);
  return names.sort();
}

function parseExpression(expression: string): ReturnType<typeof parseLabelSelector> {
  try {
    return parseLabelSelector(expression);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new CommandError(`-C: ${JSON.stringify(expression)} is no label expression: ${why}`, EXIT.usage, { cause });
  }
}

export interface ClusterFailure {
  cluster: string;
  error: unknown;
}

/** Asks every cluster at once; one that fails costs its own answer and no other's. */
export async function fromEach<T>(
  clusters: readonly string[],
  ask: (cluster: string) => Promise<T>,
): Promise<{ answers: { cluster: string; answer: T }[]; failures: ClusterFailure[] }> {
  const settled = await Promise.allSettled(clusters.map((cluster) => ask(cluster)));
  const answers: { cluster: string; answer: T }[] = [];
  const failures: ClusterFailure[] = [];
  settled.forEach((result, index) => {
    const cluster = clusters[index] ?? '';
    if (result.status === 'fulfilled') answers.push({ cluster, answer: result.value });
    else failures.push({ cluster, error: result.reason });
  });
  return { answers, failures };
}
