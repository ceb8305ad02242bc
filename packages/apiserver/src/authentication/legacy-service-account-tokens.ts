import { createPrivateKey, createPublicKey, type KeyObject, timingSafeEqual } from 'node:crypto';
import { SECRETS, SERVICE_ACCOUNTS } from '@asterism/machinery';
import type { Registry } from '../registry/registry.ts';
import type { TokenUser } from '../contract/authenticator.ts';
import { keyIdOf, livingObject, looksIssuedBy } from './service-account-tokens.ts';
import type { TokenUseRecorder } from './token-use-recorder.ts';
import { serviceAccountUser } from '../contract/user-info.ts';

const ISSUER = 'kubernetes/serviceaccount';
const CLAIM = 'kubernetes.io/serviceaccount/';
/** A label by which an administrator, or a cleaner, takes a token back. */
const INVALID_SINCE = 'kubernetes.io/legacy-token-invalid-since';
const MAX_REMEMBERED = 1024;

/** For whom such a token is, and the Secret that holds it. */
export interface LegacyTokenSubject {
  namespace: string;
  secret: string;
  account: string;
  uid: string;
}

export interface LegacyServiceAccountTokensOptions {
  registry: Registry;
  /** P-256 private key, PEM. */
  key: string;
  /** Of this server: such tokens name none. */
  audiences: readonly string[];
  /** Milliseconds since 1970. */
  clock: () => number;
  uses: TokenUseRecorder;
}

/**
 * Service account tokens of old, which stand in a Secret of type `kubernetes.io/service-account-token` and have no end of their
 * own: one is good while that Secret holds it and the account is there.
 */
export class LegacyServiceAccountTokens {
  readonly #options: LegacyServiceAccountTokensOptions;
  readonly #privateKey: KeyObject;
  readonly #publicKey: KeyObject;
  readonly #remembered = new Map<string, LegacyTokenSubject>();

  constructor(options: LegacyServiceAccountTokensOptions) {
    this.#options = options;
    this.#privateKey = createPrivateKey(options.key);
    this.#publicKey = createPublicKey(this.#privateKey);
  }

  async issue({ namespace, secret, account, uid }: LegacyTokenSubject): Promise<string> {
    const { SignJWT } = await import('jose');
    return await new SignJWT({
      [`${CLAIM}namespace`]: namespace,
      [`${CLAIM}secret.name`]: secret,
      [`${CLAIM}service-account.name`]: account,
      [`${CLAIM}service-account.uid`]: uid,
    })
      .setProtectedHeader({ alg: 'ES256', kid: keyIdOf(this.#publicKey) })
      .setIssuer(ISSUER)
      .setSubject(serviceAccountUser(namespace, account))
      .sign(this.#privateKey);
  }

  /** Whom a token names; undefined for a token that is not ours, or that its Secret does not hold any more. */
  async authenticate(token: string): Promise<TokenUser | undefined> {
    const subject = this.#remembered.get(token) ?? (await this.#verify(token));
    if (subject === undefined) return undefined;
    const { namespace, secret, account, uid } = subject;
    const { registry, audiences, clock, uses } = this.#options;
    const now = clock();
    const found = await livingObject(registry, SERVICE_ACCOUNTS, { namespace, name: account }, now);
    const holder = await livingObject(registry, SECRETS, { namespace, name: secret }, now);
    if (found?.metadata?.uid !== uid || holder === undefined || holder.metadata?.deletionTimestamp !== undefined) {
      return undefined;
    }
    const held = (holder.data as Record<string, string> | undefined)?.token ?? '';
    if (!isEqual(Buffer.from(held, 'base64'), Buffer.from(token))) return undefined;
    uses.note(holder);
    if (holder.metadata?.labels?.[INVALID_SINCE]) return undefined;
    const groups = ['system:serviceaccounts', `system:serviceaccounts:${namespace}`];
    return { user: { username: serviceAccountUser(namespace, account), uid, groups }, audiences: [...audiences] };
  }

  async #verify(token: string): Promise<LegacyTokenSubject | undefined> {
    if (!looksIssuedBy(token, ISSUER)) return undefined;
    const { jwtVerify } = await import('jose');
    try {
      const options = { issuer: ISSUER, algorithms: ['ES256'], currentDate: new Date(this.#options.clock()) };
      const { payload } = await jwtVerify(token, this.#publicKey, options);
      const text = (name: string): string => {
        const claim = payload[`${CLAIM}${name}`];
        return typeof claim === 'string' ? claim : '';
      };
      const subject = {
        namespace: text('namespace'),
        secret: text('secret.name'),
        account: text('service-account.name'),
        uid: text('service-account.uid'),
      };
      if (Object.values(subject).includes('')) return undefined;
      if (payload.sub !== serviceAccountUser(subject.namespace, subject.account)) return undefined;
      if (this.#remembered.size >= MAX_REMEMBERED) this.#remembered.delete(this.#remembered.keys().next().value!);
      this.#remembered.set(token, subject);
      return subject;
    } catch {
      return undefined;
    }
  }
}

function isEqual(a: Buffer, b: Buffer): boolean {
  return a.length === b.length && timingSafeEqual(a, b);
}
