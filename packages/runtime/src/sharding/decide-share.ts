import type { SeenLease } from '../leader/lease-record.ts';

/** A cluster's fence, as a process sees it at a moment. */
export interface ShareView {
  /** Who this process is. */
  identity: string;
  /** The peers that live, in the order in which the cluster falls to them. */
  ranking: readonly string[];
  /** Undefined: none was ever seen. */
  fence: SeenLease | undefined;
  /** Who has asked for the fence. */
  wantedBy: string | undefined;
}

/** What a process does about a cluster that it does not hold. */
export type OutsideStep =
  | { act: 'Take' }
  /** It falls to this process, and another has it. */
  | { act: 'Ask' }
  /** Undefined: until something changes. */
  | { act: 'Wait'; forMs: number | undefined };

/**
 * D1 What somebody may still hold is not taken.
 * D2 What is free is the first peer's at once, and the next one's after `yieldMs` more: the first may not know of the cluster.
 * D3 The first peer asks a holder that lives. Who does not know of a cluster does not ask, so none is given up for nobody.
 */
export function decideOutside(
  view: ShareView & {
    now: number;
    /** When this process heard of the cluster. */
    offeredAt: number;
    yieldMs: number;
  },
): OutsideStep {
  const { identity, ranking, fence, wantedBy, now, offeredAt, yieldMs } = view;
  const rank = ranking.indexOf(identity);
  if (rank < 0) return { act: 'Wait', forMs: undefined };
  const freeAt = fence ? fence.at + fence.validMs : offeredAt;
  const takeAt = Math.max(freeAt, offeredAt) + rank * yieldMs;
  if (now >= freeAt && now >= takeAt) return { act: 'Take' };
  const holder = fence?.spec?.holderIdentity;
  const isAnothers = holder !== undefined && holder !== identity && ranking.includes(holder);
  if (rank === 0 && isAnothers && wantedBy !== identity) return { act: 'Ask' };
  return { act: 'Wait', forMs: takeAt - now };
}

/** Whether a holder hands the cluster over: it was asked to by the peer that it falls to. */
export function handsOver({ identity, ranking, fence, wantedBy }: ShareView): boolean {
  return (
    fence?.spec?.holderIdentity === identity &&
    wantedBy !== undefined &&
    wantedBy !== identity &&
    wantedBy === ranking[0]
  );
}
