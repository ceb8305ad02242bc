import { parseJson } from '@asterism/machinery';
import type { CryptoKey, FlattenedJWSInput, JWSHeaderParameters } from 'jose';
import type { TokenAuthenticator } from '../contract/authenticator.ts';
import type { TokenUser } from '../contract/authenticator.ts';
import type { OidcIssuer } from './oidc-issuer.ts';
import { OidcKeys } from './oidc-keys.ts';
import { CREDENTIAL_ID, type UserInfo } from '../contract/user-info.ts';

type Claims = Readonly<Record<string, unknown>>;

const MAX_REMEMBERED = 1024;
const REMEMBERED_MS = 10_000;
/** How far a provider's clock may be ahead, for `nbf`. */
const LEEWAY_SECONDS = 5 * 60;

export interface OidcAuthenticatorOptions {
  issuer: OidcIssuer;
  /** Of this server: what a token of the issuer counts for. */
  audiences: readonly string[];
  /** Milliseconds since 1970. */
  clock: () => number;
  onError(error: unknown): void;
  /** Milliseconds, of a clock that never goes back: for the age of the keys and of remembered answers. */
  now?: () => number;
}

/**
 * ID tokens of an OpenID provider, as kube-apiserver takes them. Tokens of others are told apart by their payload, before any
 * cryptography and without a word to the provider: one that is away delays nobody else.
 * https://kubernetes.io/docs/reference/access-authn-authz/authentication/#openid-connect-tokens
 */
export function createOidcAuthenticator({
  issuer,
  audiences,
  clock,
  onError,
  now: monotonic = () => performance.now(),
}: OidcAuthenticatorOptions): TokenAuthenticator {
  const { issuerUrl, ca, signingAlgs = ['RS256'] } = issuer;
  const keys = new OidcKeys({ issuerUrl, ca, now: monotonic, onError });
  const remembered = new Map<string, { user: TokenUser; until: number; expires: number }>();

  const verify = async (token: string): Promise<Claims | undefined> => {
    const { compactVerify } = await import('jose');
    const options = { algorithms: [...signingAlgs] };
    try {
      const { payload } = await compactVerify(
        token,
        (header: JWSHeaderParameters, input: FlattenedJWSInput) => keys.find(header, input),
        options,
      );
      return readClaims(Buffer.from(payload).toString('utf8'));
    } catch (error) {
      for await (const key of matchingKeys(error)) {
        const verified = await compactVerify(token, key, options).catch(() => undefined);
        if (verified !== undefined) return readClaims(Buffer.from(verified.payload).toString('utf8'));
      }
      return undefined;
    }
  };

  return async (token) => {
    const now = clock();
    const known = remembered.get(token);
    if (known !== undefined && known.until > monotonic() && known.expires > now) return known.user;
    remembered.delete(token);
    if (unverifiedClaims(token)?.iss !== issuerUrl) return undefined;
    const claims = await verify(token);
    if (claims === undefined || !isMeantHere(claims, issuer, now / 1000)) return undefined;
    const user = userOf(claims, issuer);
    if (user === undefined) return undefined;
    if (remembered.size >= MAX_REMEMBERED) remembered.delete(remembered.keys().next().value!);
    const found = { user, audiences: [...audiences] };
    remembered.set(token, { user: found, until: monotonic() + REMEMBERED_MS, expires: (claims.exp as number) * 1000 });
    return found;
  };
}

/** A token without a key id may be of any of several keys. */
async function* matchingKeys(error: unknown): AsyncGenerator<CryptoKey> {
  if ((error as { code?: string }).code !== 'ERR_JWKS_MULTIPLE_MATCHING_KEYS') return;
  yield* error as AsyncIterable<CryptoKey>;
}

function unverifiedClaims(token: string): Claims | undefined {
  const [, payload, signature, ...rest] = token.split('.');
  if (payload === undefined || signature === undefined || rest.length > 0) return undefined;
  return readClaims(Buffer.from(payload, 'base64url').toString('utf8'));
}

function readClaims(text: string): Claims | undefined {
  try {
    const claims: unknown = parseJson(text);
    return typeof claims === 'object' && claims !== null ? (claims as Claims) : undefined;
  } catch {
    return undefined;
  }
}

function isMeantHere(claims: Claims, { issuerUrl, audiences, requiredClaims = {} }: OidcIssuer, now: number): boolean {
  const { iss, aud, exp, nbf } = claims;
  if (iss !== issuerUrl || typeof exp !== 'number' || exp <= now) return false;
  if (nbf !== undefined && (typeof nbf !== 'number' || nbf > now + LEEWAY_SECONDS)) return false;
  if (![aud].flat().some((each) => typeof each === 'string' && audiences.includes(each))) return false;
  return Object.entries(requiredClaims).every(([name, value]) => claims[name] === value);
}

/** Undefined where a claim that the user is made of is missing or of another type. */
function userOf(claims: Claims, issuer: OidcIssuer): UserInfo | undefined {
  const { usernameClaim = 'sub', groupsClaim, groupsPrefix = '', uidClaim } = issuer;
  const name = claims[usernameClaim];
  if (typeof name !== 'string' || name === '') return undefined;
  if (usernameClaim === 'email' && claims.email_verified !== undefined && claims.email_verified !== true) {
    return undefined;
  }
  const groups = groupsClaim === undefined ? [] : textsOf(claims[groupsClaim]);
  const uid = uidClaim === undefined ? undefined : claims[uidClaim];
  if (groups === undefined || (uid !== undefined && typeof uid !== 'string')) return undefined;
  const extra: Record<string, string[]> = {};
  if (typeof claims.jti === 'string' && claims.jti !== '') extra[CREDENTIAL_ID] = [`JTI=${claims.jti}`];
  for (const { key, claim } of issuer.extra ?? []) {
    const values = textsOf(claims[claim]);
    if (values === undefined) return undefined;
    if (values.length > 0) extra[key] = values;
  }
  return {
    username: prefixOf(issuer, usernameClaim) + name,
    groups: groups.map((group) => groupsPrefix + group),
    ...(uid === undefined ? {} : { uid }),
    ...(Object.keys(extra).length === 0 ? {} : { extra }),
  };
}

function prefixOf({ issuerUrl, usernamePrefix }: OidcIssuer, usernameClaim: string): string {
  if (usernamePrefix === '-') return '';
  return usernamePrefix ?? (usernameClaim === 'email' ? '' : `${issuerUrl}#`);
}

/** None where the claim is missing; undefined where it holds anything but texts. */
function textsOf(claim: unknown): string[] | undefined {
  if (claim === undefined || claim === null) return [];
  const values = [claim].flat();
  return values.every((value) => typeof value === 'string') ? values : undefined;
}
