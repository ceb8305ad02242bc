import type { CryptoKey, FlattenedJWSInput, JSONWebKeySet, JWSHeaderParameters } from 'jose';
import { fetchJson } from './fetch-json.ts';

type Keys = (header?: JWSHeaderParameters, token?: FlattenedJWSInput) => Promise<CryptoKey>;

/** Between two tries to read the keys, whatever became of the first: strangers can make up key ids. */
const PAUSE_MS = 10_000;
/** Keys that are older are read again, while they go on being used. */
const MAX_AGE_MS = 60 * 60 * 1000;

export interface OidcKeysOptions {
  issuerUrl: string;
  ca: string | undefined;
  /** Milliseconds, of a clock that never goes back. */
  now: () => number;
  onError(error: unknown): void;
}

/**
 * The public keys of an OpenID provider, by its discovery document. They are read with the first token of that provider, again
 * when a token names a key that is not known (at most every 10 s), and after an hour. While the provider is away its known keys
 * stay good.
 */
export class OidcKeys {
  readonly #options: OidcKeysOptions;
  #keys: Keys | undefined;
  #readAt = 0;
  #triedAt = Number.NEGATIVE_INFINITY;
  #reading: Promise<void> | undefined;

  constructor(options: OidcKeysOptions) {
    this.#options = options;
  }

  /** The key that a token names. Rejects where there is none, or none can be had. */
  async find(header?: JWSHeaderParameters, token?: FlattenedJWSInput): Promise<CryptoKey> {
    if (this.#keys === undefined) await this.#renew();
    else if (this.#options.now() - this.#readAt > MAX_AGE_MS) void this.#renew();
    const keys = this.#keys;
    if (keys === undefined) throw new Error(`the keys of ${this.#options.issuerUrl} are not known`);
    try {
      return await keys(header, token);
    } catch (error) {
      if ((error as { code?: string }).code !== 'ERR_JWKS_NO_MATCHING_KEY') throw error;
      await this.#renew();
      const renewed: Keys = this.#keys ?? keys;
      if (renewed === keys) throw error;
      return await renewed(header, token);
    }
  }

  /** Never rejects. */
  async #renew(): Promise<void> {
    const { now, onError } = this.#options;
    if (this.#reading === undefined) {
      if (now() - this.#triedAt < PAUSE_MS) return;
      this.#triedAt = now();
      this.#reading = this.#read()
        .catch(onError)
        .finally(() => {
          this.#reading = undefined;
        });
    }
    await this.#reading;
  }

  async #read(): Promise<void> {
    const { issuerUrl, ca, now } = this.#options;
    const configuration = (await fetchJson(`${issuerUrl.replace(/\/$/, '')}/.well-known/openid-configuration`, ca)) as {
      issuer?: unknown;
      jwks_uri?: unknown;
    } | null;
    if (configuration?.issuer !== issuerUrl) {
      throw new Error(`${issuerUrl}: its discovery document is of the issuer ${JSON.stringify(configuration?.issuer)}`);
    }
    const { jwks_uri: url } = configuration;
    if (typeof url !== 'string' || URL.parse(url)?.protocol !== 'https:') {
      throw new Error(`${issuerUrl}: its discovery document names no https jwks_uri`);
    }
    const keys = (await fetchJson(url, ca)) as JSONWebKeySet;
    const { createLocalJWKSet } = await import('jose');
    this.#keys = createLocalJWKSet(keys) as Keys;
    this.#readAt = now();
  }
}
