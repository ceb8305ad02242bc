import { createHash } from 'node:crypto';
import type { ConfigMap } from '@asterism/machinery';
import { type Callers, formatCallers } from './callers.ts';

/**
 * Users whom no binding names and who were let in all the same (`system:masters`, another authorizer than RBAC): kept beside the
 * callers, so that every process of the hub knows them. One key for each, so that processes write beside each other. An entry
 * counts for an hour, and only as long as the RBAC that it came beside is as it was.
 */

const PREFIX = 'admitted.';
const ADMITTED_MS = 3_600_000;

interface Admitted {
  key: string;
  user: string;
  until: number;
}

/** What is written for a user who comes now. `callers` are those of the bindings alone. */
export function admission(user: string, callers: Callers, now: number): Record<string, string> {
  const until = new Date(now + ADMITTED_MS).toISOString();
  return { [`${PREFIX}${digest(user)}`]: `${until} ${digest(formatCallers(callers))} ${user}` };
}

/** Those of a ConfigMap that count now. */
export function admittedIn(map: ConfigMap | undefined, callers: Callers, now: number): Admitted[] {
  const beside = digest(formatCallers(callers));
  return Object.entries(map?.data ?? {}).flatMap(([key, value]) => {
    const [, until = '', rbac, user = ''] = /^(\S+) (\S+) (.+)$/s.exec(value) ?? [];
    const end = Date.parse(until);
    if (!key.startsWith(PREFIX) || rbac !== beside || !(end > now && end <= now + ADMITTED_MS + SKEW_MS)) return [];
    return [{ key, user, until: end }];
  });
}

/** How far the clocks of two processes may be apart, ms. */
const SKEW_MS = 60_000;

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}
