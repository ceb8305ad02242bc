import { type Headers, identityFault, identityHeaders, type IdentityPrefix } from '@asterism/client';
import { failure } from '@asterism/machinery';
import { CREDENTIAL_ID, SYSTEM_AUTHENTICATED, type UserInfo } from '../contract/user-info.ts';

/**
 * The headers by which another server takes a request for one of `user`.
 *
 * F1 The other server reads exactly this user, or the request is refused (403): `identityHeaders` knows which names headers carry.
 * F2 `system:authenticated` is left to the other server, which gives it to everybody but `system:anonymous`.
 * F3 The credential that the caller used here is not named: the other server was shown that of this one, and naming another needs
 *    a right of its own.
 */
export function callerHeaders(user: UserInfo): Headers {
  const { [CREDENTIAL_ID]: _, ...extra } = user.extra ?? {};
  const groups = user.groups.filter((group) => group !== SYSTEM_AUTHENTICATED);
  return headersOf({ ...user, groups, extra }, 'impersonate-');
}

/** The headers by which a front proxy names a caller to a server behind it, with all of the caller's groups (F1 holds here too). */
export function frontProxyHeaders(user: UserInfo): Headers {
  return headersOf(user, 'x-remote-');
}

function headersOf({ username, uid, groups, extra }: UserInfo, prefix: IdentityPrefix): Headers {
  const identity = { user: username, uid, groups, extra };
  const fault = identityFault(identity);
  if (fault === undefined) return identityHeaders(identity, prefix);
  throw failure(403, `forbidden: ${fault} cannot be passed on to the API server that serves this`, { details: {} });
}
