import { withoutTrailing } from '@asterism/machinery';
import type { Connection } from '@asterism/client';
import { fingerprints } from './certificates.ts';

/**
 * Whether what `after` leads to is to be taken for another cluster than that of `before`: its address differs, or nothing of
 * the old authority is in the new one. What was seen of one cluster must not be held for the state of another, and neither
 * resourceVersions nor names would tell. New credentials alone, or an authority that is rotated with an overlap, are the same
 * cluster.
 */
export function isOtherCluster(before: Connection, after: Connection): boolean {
  if (address(before) !== address(after)) return true;
  if (before.caData === undefined || after.caData === undefined || before.caData === after.caData) return false;
  return fingerprints(before.caData).isDisjointFrom(fingerprints(after.caData));
}

function address({ server }: Connection): string {
  return withoutTrailing(new URL(server).href, '/');
}
