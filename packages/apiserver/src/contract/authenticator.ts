import type { ApiRequest } from './api-request.ts';
import type { UserInfo } from './user-info.ts';

/** Whom a token names, and for which audiences it is meant. */
export interface TokenUser {
  user: UserInfo;
  audiences: string[];
}

/**
 * One way to read a token. Undefined: not a token of this kind, or not a good one; the next authenticator is asked. Says
 * nothing about why, so that no caller learns how near he came.
 */
export type TokenAuthenticator = (token: string) => TokenUser | undefined | Promise<TokenUser | undefined>;

/** Who makes a request. Rejects with 401 where credentials are shown but no good, or none are shown and `anonymous` is off. */
export type RequestAuthenticator = (request: ApiRequest, warn: (text: string) => void) => Promise<UserInfo>;
