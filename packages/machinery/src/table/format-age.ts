const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const YEAR = 365 * DAY;

/**
 * A length of time as `kubectl get` shows ages, the coarser the longer: `95s`, `5m10s`, `42m`, `3h12m`, `30h`, `4d6h`,
 * `200d`, `2y9d`, `12y`.
 *
 * Up to two seconds below zero count as none, since clocks differ; anything less is `<invalid>`. The rule is that of
 * `duration.HumanDuration` in apimachinery.
 *
 * @param milliseconds how long
 */
export function formatAge(milliseconds: number): string {
  if (!(milliseconds > -2 * SECOND)) return '<invalid>';
  if (milliseconds < 0) return '0s';
  if (milliseconds < 2 * MINUTE) return whole(milliseconds, SECOND, 's');
  if (milliseconds < 10 * MINUTE) return whole(milliseconds, MINUTE, 'm') + rest(milliseconds, MINUTE, SECOND, 's');
  if (milliseconds < 3 * HOUR) return whole(milliseconds, MINUTE, 'm');
  if (milliseconds < 8 * HOUR) return whole(milliseconds, HOUR, 'h') + rest(milliseconds, HOUR, MINUTE, 'm');
  if (milliseconds < 2 * DAY) return whole(milliseconds, HOUR, 'h');
  if (milliseconds < 8 * DAY) return whole(milliseconds, DAY, 'd') + rest(milliseconds, DAY, HOUR, 'h');
  if (milliseconds < 2 * YEAR) return whole(milliseconds, DAY, 'd');
  if (milliseconds < 8 * YEAR) return whole(milliseconds, YEAR, 'y') + rest(milliseconds, YEAR, DAY, 'd');
  return whole(milliseconds, YEAR, 'y');
}

/**
 * How long ago a time was, in the words of {@link formatAge}; `<unknown>` where there is none.
 *
 * @param timestamp RFC 3339
 * @param now milliseconds since 1970
 */
export function translateTimestampSince(timestamp: string | null | undefined, now: number): string {
  return timestamp ? formatAge(now - Date.parse(timestamp)) : '<unknown>';
}

function whole(milliseconds: number, unit: number, letter: string): string {
  return `${Math.floor(milliseconds / unit)}${letter}`;
}

function rest(milliseconds: number, unit: number, smaller: number, letter: string): string {
  const count = Math.floor((milliseconds % unit) / smaller);
  return count === 0 ? '' : `${count}${letter}`;
}
