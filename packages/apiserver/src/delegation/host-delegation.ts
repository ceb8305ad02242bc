import { type Client, type Clock, systemClock } from '@asterism/client';
import type { ServerLogger } from '../contract/server-logger.ts';
import type { RequestAuthenticator } from '../contract/authenticator.ts';
import type { Authorizer } from '../contract/authorizer.ts';
import type { Creation } from '../contract/creation.ts';
import { authoritiesOf } from './authentication-config.ts';
import { createDelegatedAuthenticator } from './delegated-authenticator.ts';
import { createDelegatedAuthorizer } from './delegated-authorizer.ts';
import { createDelegatedTokenReview, createTokenReviewer, type ReviewToken } from './delegated-tokens.ts';
import type { DelegationOptions } from './create-delegation.ts';
import type { Delegation } from '../contract/delegation.ts';
import { FollowedConfig } from './followed-config.ts';
import { isFrontProxyHeader } from './front-proxy.ts';

/** What `createDelegation` promises. */
export async function startHostDelegation(options: DelegationOptions): Promise<Delegation> {
  const { client, clock = systemClock, logger } = options;
  const stopped = new AbortController();
  const config = await FollowedConfig.start({ client, clock, logger, signal: stopped.signal });
  return new HostDelegation({ client, clock, logger, config, stopped });
}

class HostDelegation implements Delegation {
  readonly authorizer: Authorizer;
  readonly tokenReview: Creation;
  readonly #review: ReviewToken;
  readonly #config: FollowedConfig;
  readonly #clock: Clock;
  readonly #stopped: AbortController;

  constructor(options: {
    client: Client;
    clock: Clock;
    logger: ServerLogger | undefined;
    config: FollowedConfig;
    stopped: AbortController;
  }) {
    const { client, clock, logger, config, stopped } = options;
    this.#config = config;
    this.#clock = clock;
    this.#stopped = stopped;
    const host = { client, logger, signal: stopped.signal, monotonic: () => clock.monotonic() };
    this.#review = createTokenReviewer(host);
    this.authorizer = createDelegatedAuthorizer(host);
    this.tokenReview = createDelegatedTokenReview(this.#review);
  }

  get clientCa(): string {
    return authoritiesOf(this.#config.current);
  }

  onChange(listener: () => void): () => void {
    return this.#config.onChange(listener);
  }

  authenticator({ anonymous }: { anonymous: boolean }): RequestAuthenticator {
    return createDelegatedAuthenticator({
      config: () => this.#config.current,
      review: this.#review,
      now: () => this.#clock.wall().getTime(),
      anonymous,
    });
  }

  isIdentityHeader(name: string): boolean {
    const { frontProxy } = this.#config.current;
    return frontProxy !== undefined && isFrontProxyHeader(name, frontProxy);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopped.abort();
    await this.#config.ended;
  }
}
