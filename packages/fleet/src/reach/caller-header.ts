import { type Headers, identityFault, identityHeaders, type Impersonation } from '@asterism/client';
import { parseJson } from '@asterism/machinery';

/**
 * By which the hub tells an agent whose call it passes on. One header of its own, and not those of impersonation, so that
 * nothing that a caller sends can ever be taken for it: the hub passes no `asterism-` header of a caller on, and an agent
 * believes no `impersonate-` header. One, because HTTP/2 here takes 128 headers, and people have had more groups.
 */
export const CALLER_HEADER = 'asterism-caller';

export function callerHeader(identity: Impersonation): Headers {
  return {
    [CALLER_HEADER]: Buffer.from(JSON.stringify(identity)).toString('base64url'),
    // For an agent of before that header: it would take the call for the hub's own, and so takes it for this user's, of no group.
    // A name that no header carries never gets here: `forwardedIdentity` refuses it.
    ...(identityFault({ user: identity.user }) === undefined ? identityHeaders({ user: identity.user }) : {}),
  };
}

/** Undefined where it is not what {@link callerHeader} makes. */
export function readCaller(value: Headers[string]): Impersonation | undefined {
  if (typeof value !== 'string' || !/^[\w-]+$/.test(value)) return undefined;
  let read: unknown;
  try {
    read = parseJson(Buffer.from(value, 'base64url').toString());
  } catch {
    return undefined;
  }
  if (!isRecord(read)) return undefined;
  const { user, groups, uid, extra, ...others } = read;
  if (typeof user !== 'string' || !isTexts(groups) || Object.keys(others).length > 0) return undefined;
  if (uid !== undefined && typeof uid !== 'string') return undefined;
  if (extra !== undefined && !(isRecord(extra) && Object.values(extra).every(isTexts))) return undefined;
  return {
    user,
    groups,
    ...(uid === undefined ? {} : { uid }),
    ...(extra === undefined ? {} : { extra: extra as Record<string, string[]> }),
  };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'string');
}
