import { unauthorized } from '@asterism/machinery';
import type { ApiRequest } from '../contract/api-request.ts';
import type { RequestAuthenticator } from '../contract/authenticator.ts';
import type { TokenAuthenticator } from '../contract/authenticator.ts';
import type { TokenUser } from '../contract/authenticator.ts';
import { firstHeader } from '../contract/first-header.ts';
import { userOfCertificate } from '../contract/client-certificate.ts';
import { ANONYMOUS, SYSTEM_AUTHENTICATED, SYSTEM_UNAUTHENTICATED, type UserInfo } from '../contract/user-info.ts';

export interface AuthenticatorOptions {
  tokens: readonly TokenAuthenticator[];
  /** The audiences of this server: a token for others only is no good here. */
  audiences: readonly string[];
  anonymous: boolean;
}

/** Client certificates first, then bearer tokens, then nobody, as upstream's union. */
export function createRequestAuthenticator(options: AuthenticatorOptions): RequestAuthenticator {
  return async (request, warn) => {
    const certificate = request.peer?.certificate;
    const named = certificate && userOfCertificate(certificate);
    if (named !== undefined) return authenticated(named);
    const token = bearerToken(request, warn);
    if (token !== undefined) {
      const found = await authenticateToken(options.tokens, token, options.audiences);
      if (found === undefined) throw unauthorized();
      return found.user;
    }
    if (!options.anonymous || request.peer?.certificateRefused) throw unauthorized();
    return ANONYMOUS;
  };
}

/**
 * Asks each authenticator in turn. A token counts where it is meant for one of `audiences`; the answer names those in common.
 */
export async function authenticateToken(
  authenticators: readonly TokenAuthenticator[],
  token: string,
  audiences: readonly string[],
): Promise<TokenUser | undefined> {
  for (const authenticator of authenticators) {
    const answer = authenticator(token);
    const found = answer instanceof Promise ? await answer : answer;
    if (found === undefined) continue;
    const common = found.audiences.filter((audience) => audiences.includes(audience));
    if (common.length === 0 && audiences.length > 0) continue;
    return { user: authenticated(found.user), audiences: common };
  }
  return undefined;
}

/** Everybody who proved who he is belongs to `system:authenticated`. */
export function authenticated(user: UserInfo): UserInfo {
  const { groups } = user;
  if (groups.includes(SYSTEM_AUTHENTICATED) || groups.includes(SYSTEM_UNAUTHENTICATED)) return user;
  return { ...user, groups: [...groups, SYSTEM_AUTHENTICATED] };
}

/** The token of `Authorization: Bearer …`. */
export function bearerToken(request: ApiRequest, warn: (text: string) => void): string | undefined {
  const header = firstHeader(request.headers, 'authorization') ?? '';
  const [scheme = '', token = '', ...rest] = header.trim().split(' ');
  if (scheme.toLowerCase() !== 'bearer') return undefined;
  if (token === '' && rest.some((word) => word !== '')) {
    warn('the provided Authorization header contains extra space before the bearer token, and is ignored');
  }
  return token === '' ? undefined : token;
}
