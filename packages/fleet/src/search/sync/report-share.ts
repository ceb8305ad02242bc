import type { Client } from '@asterism/client';
import { deepEqual, formatTime, ifFound, isConflict, setCondition } from '@asterism/machinery';
import type { Share, Usage } from '@asterism/store';
import { type Cluster, CLUSTERS } from '../../api/index.ts';

export const SEARCH_WITHIN_SHARE = 'SearchWithinShare';

/** What of a cluster search does not keep. */
export interface ShareState {
  share: Share;
  usage: Usage;
  /** Resources that are not complete. Empty: the cluster is within its share. */
  incomplete: readonly string[];
}

const NAMED = 10;
const TRIES = 5;

/** Says in a Cluster's status whether it is within its share. A cluster that always was has no such condition. */
export async function reportShare(
  hub: Client,
  name: string,
  state: ShareState,
  { now, signal }: { now: number; signal: AbortSignal },
): Promise<void> {
  const clusters = hub.resource(CLUSTERS);
  for (let left = TRIES; ; left--) {
    const cluster = await ifFound(clusters.get({ name }, { signal }));
    if (!cluster) return;
    const status = statusWith(cluster, state, now);
    if (!status) return;
    try {
      await clusters.update({ ...cluster, status }, { subresource: 'status', signal });
      return;
    } catch (error) {
      if (!isConflict(error) || left <= 1) throw error;
    }
  }
}

/** Undefined where it says so already. */
export function statusWith(cluster: Cluster, state: ShareState, now: number): Cluster['status'] | undefined {
  const before = cluster.status?.conditions;
  const isKnown = before?.some(({ type }) => type === SEARCH_WITHIN_SHARE) ?? false;
  if (!isKnown && state.incomplete.length === 0) return undefined;
  const time = formatTime(now);
  const conditions = setCondition(before, { type: SEARCH_WITHIN_SHARE, ...verdictOn(state) }, time);
  return deepEqual(conditions, before) ? undefined : { ...cluster.status, conditions };
}

function verdictOn({ share, usage, incomplete }: ShareState): {
  status: 'True' | 'False';
  reason: string;
  message: string;
} {
  const bound = `${share.rows} objects and ${share.bytes} bytes`;
  if (incomplete.length === 0) {
    return { status: 'True', reason: 'WithinShare', message: `the cluster has less than its share of ${bound}` };
  }
  const rest = incomplete.length - NAMED;
  const kinds = incomplete.slice(0, NAMED).join(', ') + (rest > 0 ? ` and ${rest} more` : '');
  const message =
    `search does not keep all of ${kinds}: the cluster reached its share of ${bound} (kept: ${usage.rows} objects, ` +
    `${usage.bytes} bytes). Index less of it (spec.index), or give it more (spec.searchShare)`;
  return { status: 'False', reason: 'ShareExceeded', message };
}
