import type { UserInfo } from '@asterism/apiserver';
import type { Impersonation } from '@asterism/client';

/** Names that a member gives to its own: no caller of the hub may bear one there. */
export const SYSTEM_PREFIX = 'system:';

/** The one group of the system's that says nothing but what the hub proved. Members add it themselves. */
export const AUTHENTICATED = 'system:authenticated';

/**
 * Who a caller of the hub is in a member, so that the member's own RBAC decides.
 *
 * Groups `system:*` stay behind: they say what somebody is in the hub (`system:masters` above all), not in the member. A user
 * `system:*` is refused: a service account of the hub must not become the member's of the same name.
 */
export function forwardedIdentity(user: UserInfo): Impersonation | { refused: string } {
  const { username, uid, groups, extra } = user;
  if (username === '' || username.startsWith(SYSTEM_PREFIX)) {
    return {
      refused:
        `"${username}" is the hub's own: users whose name begins with "${SYSTEM_PREFIX}" mean nothing in a member. ` +
        'Use a certificate or token of a person or program with a name of its own',
    };
  }
  return {
    user: username,
    groups: groups.filter((group) => !group.startsWith(SYSTEM_PREFIX)),
    ...(uid ? { uid } : {}),
    ...(extra ? { extra } : {}),
  };
}
