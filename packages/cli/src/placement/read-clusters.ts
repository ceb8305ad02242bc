import { type Cluster, CLUSTERS } from '@asterism/fleet/api';
import { clusterLike, type ClusterHypothesis } from '@asterism/fleet/place';
import { CommandError, EXIT } from '../exit-code.ts';
import { readManifests } from '../manifests.ts';

/** The flags of what-if. */
export interface HypothesisFlags {
  without?: string[];
  with?: string[];
}

/**
 * What `--without NAME` and `--with NAME=LIKE` or `--with FILE` say of a fleet.
 *
 * @throws CommandError as wrong usage, where a cluster is not there, is there already, or does not say what it serves: the answer
 *   would be about something else.
 */
export async function readHypothesis(flags: HypothesisFlags, present: readonly Cluster[]): Promise<ClusterHypothesis> {
  const named = new Map(present.map((cluster) => [cluster.metadata.name ?? '', cluster]));
  const there = [...named.keys()].sort().join(', ') || 'none yet';
  const find = (name: string, flag: string): Cluster => {
    const cluster = named.get(name);
    if (!cluster) throw new CommandError(`${flag}: no cluster ${JSON.stringify(name)}: there are ${there}`, EXIT.usage);
    return cluster;
  };
  const without = (flags.without ?? []).flatMap((each) => each.split(',')).filter((name) => name !== '');
  for (const name of without) find(name, '--without');
  const added: Cluster[] = [];
  for (const flag of flags.with ?? []) {
    const [, name, like] = /^([^=/]+)=([^=/]+)$/.exec(flag) ?? [];
    const more = name && like ? [clusterLike(name, find(like, '--with'))] : await readClusters(flag);
    for (const cluster of more) {
      if (!named.has(cluster.metadata.name ?? '') || without.includes(cluster.metadata.name ?? '')) continue;
      throw new CommandError(`--with: there is a cluster ${cluster.metadata.name} already`, EXIT.usage);
    }
    added.push(...more);
  }
  return { without, with: added };
}

async function readClusters(path: string): Promise<Cluster[]> {
  const objects = await readManifests([path]);
  return objects.map((object) => {
    const cluster = object as Cluster;
    const what = `--with ${path}: ${object.kind} ${object.metadata?.name}`;
    if (object.kind !== CLUSTERS.kind) throw new CommandError(`${what} is no Cluster`, EXIT.usage);
    if (cluster.status?.apis) return cluster;
    throw new CommandError(
      `${what} says in no status.apis what it serves, so nothing could go there: take --with NAME=LIKE, or a file made from \`aster get cluster LIKE -o yaml\``,
      EXIT.usage,
    );
  });
}
