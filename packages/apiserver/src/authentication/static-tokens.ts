import { authenticated } from './authenticator.ts';
import type { TokenAuthenticator } from '../contract/authenticator.ts';
import type { TokenUser } from '../contract/authenticator.ts';

/** A bearer token that names a user for as long as the server runs. */
export interface StaticToken {
  token: string;
  username: string;
  uid?: string;
  groups: string[];
}

/**
 * Tokens given at the start. A Map finds them by a hash with a secret seed and compares no other: the time of an answer tells
 * nothing of a token.
 */
export function createStaticTokenAuthenticator(
  tokens: readonly StaticToken[],
  audiences: readonly string[],
): TokenAuthenticator {
  const users = new Map<string, TokenUser>();
  for (const { token, username, uid, groups } of tokens) {
    if (token === '') throw new Error(`the static token of ${username} is empty`);
    const user = authenticated({ username, ...(uid === undefined ? {} : { uid }), groups: [...groups] });
    users.set(token, { user, audiences: [...audiences] });
  }
  return (token) => users.get(token);
}
