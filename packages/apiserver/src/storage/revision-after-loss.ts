/** More than a server gives in the time between a backup and the loss of what came after it; what etcd's tools take. */
const RESTORE_LEAP = 1_000_000_000;

/**
 * A revision above all that clients may have seen, for a database that lost its last ones.
 *
 * @param now milliseconds since 1970: the microseconds since then are above the leap, so a second loss is above the first.
 */
export function revisionAfterLoss(newest: number, now: number): number {
  return Math.max(newest + RESTORE_LEAP, now * 1000);
}
