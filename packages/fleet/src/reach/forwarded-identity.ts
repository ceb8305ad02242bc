import type { UserInfo } from '@asterism/apiserver';
import { identityFault, type Impersonation } from '@asterism/client';
import type { Callers } from './callers.ts';

/** Names that a member gives to its own: no caller of the hub may bear one there. */
export const SYSTEM_PREFIX = 'system:';

/** The one group of the system's that says nothing but what the hub proved. Members add it themselves. */
export const AUTHENTICATED = 'system:authenticated';

/** What an API server says of how it knew a caller (`authentication.kubernetes.io/node-name`, …): in a member it would be a claim. */
const OF_AUTHENTICATION = 'authentication.kubernetes.io/';

/**
 * Who a caller of the hub is in a member, so that the member's own RBAC decides.
 *
 * - (I1) A user `system:*` is refused: a service account of the hub must not become the member's of the same name.
 * - (I2) Groups `system:*` stay behind: they say what somebody is in the hub (`system:masters` above all), not in the member.
 * - (I3) Of the other groups those come along that the hub's RBAC, or the Cluster, names for this cluster: the member lets the
 *   hub come as these, and as no other.
 * - (I4) A caller whose name, uid or extras no header carries unchanged is refused: the member would read another one. A group of
 *   that kind stays in the hub, as `callersOf` leaves it out.
 */
export function forwardedIdentity(
  user: UserInfo,
  callers: Pick<Callers, 'groups'>,
): Impersonation | { refused: string } {
  const { username, uid, groups, extra } = user;
  if (username === '' || username.startsWith(SYSTEM_PREFIX)) {
    return {
      refused:
        `"${username}" is the hub's own: users whose name begins with "${SYSTEM_PREFIX}" mean nothing in a member. ` +
        'Use a certificate or token of a person or program with a name of its own',
    };
  }
  const own = Object.entries(extra ?? {}).filter(([key]) => !key.startsWith(OF_AUTHENTICATION));
  const identity = {
    user: username,
    groups: groups.filter((group) => callers.groups.includes(group)),
    ...(uid ? { uid } : {}),
    ...(own.length > 0 ? { extra: Object.fromEntries(own) } : {}),
  };
  const fault = identityFault(identity);
  return fault === undefined
    ? identity
    : { refused: `${fault} cannot be sent to a member: no header carries it unchanged` };
}

export function mayCome(username: string, { anyUser, users }: Callers): boolean {
  return anyUser || users.includes(username);
}
