import { createHash, createPrivateKey, createPublicKey, type KeyObject, randomUUID } from 'node:crypto';
import {
  formatTime,
  isNotFound,
  type KubeObject,
  NODES,
  parseJson,
  PODS,
  type ResourceType,
  SECRETS,
  SERVICE_ACCOUNTS,
} from '@asterism/machinery';
import type { Registry } from '../registry/registry.ts';
import { authenticated } from './authenticator.ts';
import type { TokenUser } from '../contract/authenticator.ts';
import { LivingIdentities } from './living-identities.ts';
import { serviceAccountUser } from '../contract/user-info.ts';

const MAX_REMEMBERED = 2048;

/** What a token is bound to: when that is gone, so is the token's worth. */
export interface BoundObject {
  kind: 'Pod' | 'Secret' | 'Node';
  name: string;
  uid: string;
}

export interface TokenRequest {
  serviceAccount: { namespace: string; name: string; uid: string };
  audiences: string[];
  /** Seconds. */
  lifetime: number;
  bound?: BoundObject;
  /** The node of a bound pod. */
  node?: { name: string; uid?: string };
}

export interface ServiceAccountTokensOptions {
  registry: Registry;
  issuer: string;
  /** P-256 private key, PEM. */
  key: string;
  /** Milliseconds since 1970. */
  clock: () => number;
}

interface KubernetesClaims {
  namespace: string;
  serviceaccount: { name: string; uid: string };
  pod?: { name: string; uid: string };
  secret?: { name: string; uid: string };
  node?: { name: string; uid?: string };
}

interface Claims {
  sub: string;
  exp: number;
  nbf: number;
  jti?: string;
  aud: string[];
  'kubernetes.io': KubernetesClaims;
}

/** A token whose signature is good. */
interface CheckedToken {
  claims: Claims;
  names: TokenUser;
}

/**
 * ServiceAccount tokens (KEP-1205): JWTs signed with ES256. A signature is checked once for each token and remembered;
 * that the account and what the token is bound to still exist is looked up for every request.
 */
export class ServiceAccountTokens {
  readonly issuer: string;
  readonly #living: LivingIdentities;
  readonly #clock: () => number;
  readonly #privateKey: KeyObject;
  readonly #publicKey: KeyObject;
  readonly #keyId: string;
  readonly #remembered = new Map<string, CheckedToken>();

  constructor({ registry, issuer, key, clock }: ServiceAccountTokensOptions) {
    this.issuer = issuer;
    this.#living = new LivingIdentities(registry, clock);
    this.#clock = clock;
    this.#privateKey = createPrivateKey(key);
    this.#publicKey = createPublicKey(this.#privateKey);
    this.#keyId = keyIdOf(this.#publicKey);
  }

  async issue(request: TokenRequest): Promise<{ token: string; expirationTimestamp: string }> {
    const { SignJWT } = await import('jose');
    const { serviceAccount, audiences, lifetime, bound, node } = request;
    const now = Math.floor(this.#clock() / 1000);
    const claims: KubernetesClaims = {
      namespace: serviceAccount.namespace,
      serviceaccount: { name: serviceAccount.name, uid: serviceAccount.uid },
      ...(bound === undefined ? {} : { [bound.kind.toLowerCase()]: { name: bound.name, uid: bound.uid } }),
      ...(node === undefined ? {} : { node }),
    };
    const token = await new SignJWT({ 'kubernetes.io': claims, aud: audiences, jti: randomUUID() })
      .setProtectedHeader({ alg: 'ES256', kid: this.#keyId })
      .setIssuer(this.issuer)
      .setSubject(serviceAccountUser(serviceAccount.namespace, serviceAccount.name))
      .setIssuedAt(now)
      .setNotBefore(now)
      .setExpirationTime(now + lifetime)
      .sign(this.#privateKey);
    return { token, expirationTimestamp: formatTime((now + lifetime) * 1000) };
  }

  /** Whom a token names; undefined for a token that is not ours, is out of its time, or outlived what it is bound to. */
  async authenticate(token: string): Promise<TokenUser | undefined> {
    const checked = this.#remembered.get(token) ?? (await this.#verify(token));
    if (checked === undefined) return undefined;
    const { claims, names } = checked;
    const now = this.#clock() / 1000;
    if (claims.exp <= now || claims.nbf > now + 5) {
      this.#remembered.delete(token);
      return undefined;
    }
    return (await this.#stillExists(claims)) ? names : undefined;
  }

  /**
   * Why a token that we signed is none any more, or none for the `wanted` audiences, for those who review tokens; undefined where
   * that is nobody's to know.
   */
  async whyRefused(token: string, wanted: readonly string[]): Promise<string | undefined> {
    const { claims } = this.#remembered.get(token) ?? (await this.#verify(token)) ?? {};
    if (claims === undefined) return undefined;
    if (!claims.aud.some((audience) => wanted.includes(audience))) {
      return `token audiences ${quoted(claims.aud)} is invalid for the target audiences ${quoted(wanted)}`;
    }
    const { namespace, serviceaccount } = claims['kubernetes.io'];
    const { name, uid } = serviceaccount;
    const actual = await this.#living.uidOf(SERVICE_ACCOUNTS, { namespace, name });
    if (actual === undefined) return `serviceaccounts ${JSON.stringify(name)} not found`;
    return actual === uid ? undefined : `service account UID (${actual}) does not match claim (${uid})`;
  }

  async #verify(token: string): Promise<CheckedToken | undefined> {
    if (!looksIssuedBy(token, this.issuer)) return undefined;
    const { jwtVerify } = await import('jose');
    try {
      const options = { issuer: this.issuer, algorithms: ['ES256'], currentDate: new Date(this.#clock()) };
      const { payload } = await jwtVerify(token, this.#publicKey, options);
      const claims = { ...payload, aud: [payload.aud ?? []].flat() } as unknown as Claims;
      if (!isOfAccount(claims)) return undefined;
      if (this.#remembered.size >= MAX_REMEMBERED) this.#remembered.delete(this.#remembered.keys().next().value!);
      const checked = { claims, names: namedBy(claims) };
      this.#remembered.set(token, checked);
      return checked;
    } catch {
      return undefined;
    }
  }

  async #stillExists({ 'kubernetes.io': about }: Claims): Promise<boolean> {
    const { namespace, serviceaccount, pod, secret, node } = about;
    if (!(await this.#exists(SERVICE_ACCOUNTS, serviceaccount, namespace))) return false;
    if (secret !== undefined && !(await this.#exists(SECRETS, secret, namespace))) return false;
    if (pod !== undefined) return await this.#exists(PODS, pod, namespace);
    return node === undefined || (await this.#exists(NODES, node));
  }

  async #exists(
    type: ResourceType,
    { name, uid }: { name: string; uid?: string },
    namespace?: string,
  ): Promise<boolean> {
    const actual = await this.#living.uidOf(type, { namespace, name });
    return actual !== undefined && (uid === undefined || uid === actual);
  }

  /** `/openid/v1/jwks`: the public key, for others who check tokens. */
  async jwks(): Promise<unknown> {
    const { exportJWK } = await import('jose');
    return { keys: [{ use: 'sig', kid: this.#keyId, alg: 'ES256', ...(await exportJWK(this.#publicKey)) }] };
  }

  /** `/.well-known/openid-configuration` */
  openIdConfiguration(): unknown {
    return {
      issuer: this.issuer,
      jwks_uri: `${this.issuer}/openid/v1/jwks`,
      response_types_supported: ['id_token'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['ES256'],
    };
  }
}

/** As Go prints lists of strings. */
function quoted(texts: readonly string[]): string {
  return `[${texts.map((text) => JSON.stringify(text)).join(' ')}]`;
}

/** As upstream: SHA-256 of the public key in DER. */
export function keyIdOf(publicKey: KeyObject): string {
  return createHash('sha256')
    .update(publicKey.export({ type: 'spki', format: 'der' }))
    .digest('base64url');
}

/** A look at the payload before any cryptography: tokens of other kinds are left to others at no cost. */
export function looksIssuedBy(token: string, issuer: string): boolean {
  const [, payload, signature, ...rest] = token.split('.');
  if (payload === undefined || signature === undefined || rest.length > 0) return false;
  try {
    return (parseJson(Buffer.from(payload, 'base64url').toString('utf8')) as { iss?: unknown }).iss === issuer;
  } catch {
    return false;
  }
}

/** Signed by our key, and made for what is asked of it here. */
function isOfAccount({ sub, exp, nbf, 'kubernetes.io': about }: Partial<Claims>): boolean {
  const account = about?.serviceaccount;
  if (about === undefined || account?.uid === undefined || typeof exp !== 'number' || typeof nbf !== 'number')
    return false;
  return sub === serviceAccountUser(about.namespace, account.name);
}

/** What stands there now; undefined too for what was to be deleted more than a minute ago. */
export async function livingObject(
  registry: Registry,
  type: ResourceType,
  ref: { namespace: string | undefined; name: string },
  now: number,
): Promise<KubeObject | undefined> {
  const resource = registry.find(type.group, type.version, type.resource);
  if (resource === undefined) return undefined;
  let object: KubeObject;
  try {
    object = (await registry.get(resource, ref)).parse();
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
  const { deletionTimestamp } = object.metadata ?? {};
  return deletionTimestamp !== undefined && Date.parse(deletionTimestamp) + 60_000 < now ? undefined : object;
}

function namedBy(claims: Claims): TokenUser {
  const { namespace, serviceaccount, pod, node } = claims['kubernetes.io'];
  const extra: Record<string, string[]> = {};
  const add = (name: string, value: string | undefined): void => {
    if (value !== undefined) extra[`authentication.kubernetes.io/${name}`] = [value];
  };
  add('credential-id', claims.jti === undefined ? undefined : `JTI=${claims.jti}`);
  add('node-name', node?.name);
  add('node-uid', node?.uid);
  add('pod-name', pod?.name);
  add('pod-uid', pod?.uid);
  const user = authenticated({
    username: serviceAccountUser(namespace, serviceaccount.name),
    uid: serviceaccount.uid,
    groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`],
    extra,
  });
  return { user, audiences: claims.aud };
}
