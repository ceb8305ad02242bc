import { type Headers, impersonationHeaders } from '@asterism/client';
import { failure } from '@asterism/machinery';
import { CREDENTIAL_ID, SYSTEM_AUTHENTICATED, type UserInfo } from '../authentication/user-info.ts';
import { encodeHeaderText } from '../http/header-text.ts';

/**
 * The headers by which another server takes a request for one of `user`.
 *
 * F1 A caller is passed on as exactly who he is, or refused (403). An empty name would be no impersonation at all, and the
 *    request one of this server itself; white space at an end is cut off by whoever reads a header, and ` admin` is `admin`.
 * F2 `system:authenticated` is left to the other server, which gives it to everybody but `system:anonymous`.
 * F3 By which credential he came here is not told: the other server was shown that of this one, and to say so needs a right of its own.
 */
export function callerHeaders(user: UserInfo): Headers {
  const { [CREDENTIAL_ID]: _, ...extra } = user.extra ?? {};
  return named({ ...user, extra }, (group) => group !== SYSTEM_AUTHENTICATED, 'impersonate-');
}

/** The headers by which a front proxy names a caller to a server behind it, with all of his groups (F1 holds here too). */
export function frontProxyHeaders(user: UserInfo): Headers {
  return named(user, () => true, 'x-remote-');
}

function named({ username, uid = '', groups, extra = {} }: UserInfo, isTold: (group: string) => boolean, to: string) {
  checkText('user name', username);
  if (uid !== '') checkText('uid', uid);
  for (const group of groups) checkText('group', group);
  for (const [key, values] of Object.entries(extra)) {
    if (key === '' || key !== key.toLowerCase()) throw notPassedOn('extra key', key);
    for (const value of values) if (value !== '') checkText('extra value', value);
  }
  const headers = impersonationHeaders({ user: username, uid, groups: groups.filter(isTold), extra });
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name.replace(/^impersonate-/, to),
      Array.isArray(value) ? value.map(encodeHeaderText) : encodeHeaderText(value ?? ''),
    ]),
  );
}

/** Text that a header carries to its end as it is. */
function checkText(what: string, text: string): void {
  if (text === '' || text !== text.trim() || /\p{Cc}/u.test(text)) throw notPassedOn(what, text);
}

function notPassedOn(what: string, text: string) {
  const why = `the ${what} ${JSON.stringify(text)} cannot be passed on to the API server that serves this`;
  return failure(403, `forbidden: ${why}`, { details: {} });
}
