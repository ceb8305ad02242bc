/** Who makes a request, as `authentication.k8s.io/v1` UserInfo: what authorization decides on and what audit names. */
export interface UserInfo {
  username: string;
  uid?: string;
  groups: string[];
  extra?: Record<string, string[]>;
}

/** Members of this group may do everything, without a look at any role (upstream's `user.SystemPrivilegedGroup`). */
export const SYSTEM_MASTERS = 'system:masters';
/** Every caller that proved who it is. */
export const SYSTEM_AUTHENTICATED = 'system:authenticated';
/** Callers that showed no credentials. */
export const SYSTEM_UNAUTHENTICATED = 'system:unauthenticated';

/** The extra value that tells one credential of a user from another, without telling what it is. */
export const CREDENTIAL_ID = 'authentication.kubernetes.io/credential-id';

/** The caller that showed no credentials, where that is allowed. */
export const ANONYMOUS: UserInfo = { username: 'system:anonymous', groups: [SYSTEM_UNAUTHENTICATED] };

/** How a service account is called where it is a user. */
export function serviceAccountUser(namespace: string, name: string): string {
  return `system:serviceaccount:${namespace}:${name}`;
}
