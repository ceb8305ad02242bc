import type { Client } from '@asterism/client';
import { type Cluster, CLUSTERS } from '@asterism/fleet/api';
import { matchesLabels, parseLabelSelector } from '@asterism/machinery';
import { CommandError, EXIT } from './exit-code.ts';

/**
 * The clusters that `-C` names: `all`, names with commas (`a,b`), or a label expression (`region=eu`, `tier in (a,b)`).
 * A word without an operator is a name; a name that no cluster has is an error, never an empty answer.
 */
export async function resolveClusters(flag: string, hub: Client): Promise<string[]> {
  const { items } = await hub.resource(CLUSTERS).list();
  const names = items.map((cluster) => cluster.metadata.name ?? '').sort();
  if (flag === 'all') return names;
  if (/[=!()]|\s(in|notin)\s/.test(flag)) return matchingLabels(flag, items);
  const wanted = flag
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '');
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
  const requirements = parseLabelSelector(expression);
  const names = clusters
    .filter((cluster) => matchesLabels(requirements, cluster.metadata.labels ?? {}))
    .map((cluster) => cluster.metadata.name ?? '');
  if (names.length === 0) throw new CommandError(`no cluster has labels that match ${JSON.stringify(expression)}`);
  return names.sort();
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
