import { hash } from 'node:crypto';
import type { TokenAuthenticator } from './authenticator.ts';
import type { UserInfo } from './user-info.ts';

/** A bearer token that names a user for as long as the server runs. */
export interface StaticToken {
  token: string;
  username: string;
  uid?: string;
  groups: string[];
}

/** Tokens given at the start. They are looked up by their hash, so that the time of an answer tells nothing of a token. */
export function createStaticTokenAuthenticator(
  tokens: readonly StaticToken[],
  audiences: readonly string[],
): TokenAuthenticator {
  const users = new Map<string, UserInfo>();
  for (const { token, username, uid, groups } of tokens) {
    if (token === '') throw new Error(`the static token of ${username} is empty`);
    users.set(hashOf(token), { username, ...(uid === undefined ? {} : { uid }), groups: [...groups] });
  }
  return (token) => {
    const user = users.get(hashOf(token));
    return user === undefined ? undefined : { user, audiences: [...audiences] };
  };
}

function hashOf(token: string): string {
  return hash('sha256', token, 'base64');
}
