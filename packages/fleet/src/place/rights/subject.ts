/** A user, or all members of a group (then without a username), as an access review names them. */
export interface Subject {
  username?: string;
  groups: readonly string[];
  uid?: string;
  extra?: Readonly<Record<string, readonly string[]>>;
}

const SERVICE_ACCOUNT_PREFIX = 'system:serviceaccount:';

/** The longest name in a message: a decision repeats it for each cluster. */
const MAX_NAME = 256;

/** The subject as messages name it: `user "alice"`, `service account ci/deployer`, `group "team-a"`. */
export function formatSubject({ username, groups }: Subject): string {
  if (!username) return `group ${quoted(groups[0] ?? '')}`;
  if (!username.startsWith(SERVICE_ACCOUNT_PREFIX)) return `user ${quoted(username)}`;
  return `service account ${username.slice(SERVICE_ACCOUNT_PREFIX.length, MAX_NAME).replace(':', '/')}`;
}

function quoted(name: string): string {
  return JSON.stringify(name.length > MAX_NAME ? `${name.slice(0, MAX_NAME)}…` : name);
}

/** A service account with the groups that every token of it has. */
export function serviceAccountSubject(namespace: string, name: string): Subject {
  return {
    username: `${SERVICE_ACCOUNT_PREFIX}${namespace}:${name}`,
    groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, AUTHENTICATED],
  };
}

/** A user without any group but the one of all who are authenticated. */
export function userSubject(username: string): Subject {
  if (!username.startsWith(SERVICE_ACCOUNT_PREFIX)) return { username, groups: [AUTHENTICATED] };
  const [namespace = '', name = ''] = username.slice(SERVICE_ACCOUNT_PREFIX.length).split(':');
  return serviceAccountSubject(namespace, name);
}

/** Any member of a group. */
export function groupSubject(name: string): Subject {
  return { groups: name === UNAUTHENTICATED || name === AUTHENTICATED ? [name] : [name, AUTHENTICATED] };
}

const AUTHENTICATED = 'system:authenticated';
const UNAUTHENTICATED = 'system:unauthenticated';
