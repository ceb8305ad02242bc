import { createHash } from 'node:crypto';

/**
 * The peers in the order in which a cluster falls to them, by rendezvous hashing (highest random weight; Thaler and
 * Ravishankar, 1998): every process finds the same order, and when a peer goes or comes only the clusters move that were its, or
 * become its.
 */
export function rankPeers(cluster: string, peers: readonly string[]): string[] {
  return peers
    .map((peer) => ({ peer, weight: weightOf(cluster, peer) }))
    .sort((a, b) => (a.weight > b.weight || (a.weight === b.weight && a.peer < b.peer) ? -1 : 1))
    .map(({ peer }) => peer);
}

function weightOf(cluster: string, peer: string): string {
  return createHash('sha256').update(`${peer}\0${cluster}`).digest('hex');
}
