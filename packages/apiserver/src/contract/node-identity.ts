import type { UserInfo } from './user-info.ts';

export const NODES_GROUP = 'system:nodes';
export const NODE_USER_PREFIX = 'system:node:';

/**
 * The node that a user is: `system:node:NAME` of the group `system:nodes`. Undefined for everybody else; '' for a node that
 * does not say which.
 */
export function nodeNameOf({ username, groups }: UserInfo): string | undefined {
  if (!username.startsWith(NODE_USER_PREFIX) || !groups.includes(NODES_GROUP)) return undefined;
  return username.slice(NODE_USER_PREFIX.length);
}
