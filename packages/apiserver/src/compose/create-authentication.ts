import type { ApiServerOptions } from './api-server-options.ts';
import type { Delegation } from '../contract/delegation.ts';
import type { Creation } from '../contract/creation.ts';
import type { Registry } from '../registry/registry.ts';
import { createRequestAuthenticator } from '../authentication/authenticator.ts';
import type { RequestAuthenticator, TokenAuthenticator } from '../contract/authenticator.ts';
import { createBootstrapTokenAuthenticator } from '../authentication/bootstrap-tokens.ts';
import { LegacyServiceAccountTokens } from '../authentication/legacy-service-account-tokens.ts';
import { createOidcAuthenticator } from '../authentication/oidc-authenticator.ts';
import { ServiceAccountTokens } from '../authentication/service-account-tokens.ts';
import { createStaticTokenAuthenticator } from '../authentication/static-tokens.ts';
import { createTokenRequest } from '../authentication/token-request.ts';
import { createSelfSubjectReview, createTokenReview } from '../authentication/token-review.ts';
import { startTokenUseRecorder } from '../authentication/token-use-recorder.ts';
import type { UserInfo } from '../contract/user-info.ts';

/** What tokens are for where no service account issuer says otherwise. */
const DEFAULT_AUDIENCE = 'https://kubernetes.default.svc';

export interface Authentication {
  authenticate: RequestAuthenticator;
  /** Reviews and token requests, by resource. */
  creations: readonly [string, Creation][];
  serviceAccountTokens: ServiceAccountTokens | undefined;
  /** Of Secrets that hold tokens. */
  legacyTokens: LegacyServiceAccountTokens | undefined;
}

export interface AuthenticationServer {
  /** Undefined where the server has no kinds of its own. */
  registry: Registry | undefined;
  /** Who the server is in what it writes. */
  user: UserInfo;
  /** Milliseconds since 1970. */
  clock: () => number;
  signal: AbortSignal;
}

/** The ways to prove who one is that the options turn on. */
export function createAuthentication(options: ApiServerOptions, server: AuthenticationServer): Authentication {
  const { anonymous = true, delegation } = options;
  const { registry, clock } = server;
  if (delegation !== undefined) return delegatedAuthentication(delegation, anonymous, clock);
  const audiences = [options.serviceAccounts?.issuer ?? DEFAULT_AUDIENCE];
  const tokens: TokenAuthenticator[] = [];
  if (options.staticTokens !== undefined) tokens.push(createStaticTokenAuthenticator(options.staticTokens, audiences));
  tokens.push(...(options.tokenAuthenticators ?? []));
  if (options.bootstrapTokens && registry !== undefined) {
    tokens.push(createBootstrapTokenAuthenticator({ registry, audiences, clock }));
  }
  for (const issuer of options.oidc ?? []) {
    const onError = (error: unknown): void =>
      options.logger?.warn({ err: error, issuer: issuer.issuerUrl }, 'the keys of an OpenID provider cannot be read');
    tokens.push(createOidcAuthenticator({ issuer, audiences, clock, onError }));
  }
  const serviceAccountTokens =
    options.serviceAccounts && registry && new ServiceAccountTokens({ registry, ...options.serviceAccounts, clock });
  if (serviceAccountTokens !== undefined) tokens.push((token) => serviceAccountTokens.authenticate(token));
  const legacyTokens = legacyTokensOf(options, server, audiences);
  if (legacyTokens !== undefined) tokens.push((token) => legacyTokens.authenticate(token));
  const whyRefused =
    serviceAccountTokens &&
    ((token: string, wanted: readonly string[]) => serviceAccountTokens.whyRefused(token, wanted));
  const creations: [string, Creation][] = [
    ['authentication.k8s.io/tokenreviews', createTokenReview({ tokens, audiences, whyRefused })],
    ['authentication.k8s.io/selfsubjectreviews', createSelfSubjectReview(clock)],
  ];
  if (serviceAccountTokens !== undefined && registry !== undefined) {
    creations.push(['/serviceaccounts/token', createTokenRequest({ registry, tokens: serviceAccountTokens, clock })]);
  }
  const authenticate = createRequestAuthenticator({ tokens, audiences, anonymous });
  return { authenticate, creations, serviceAccountTokens, legacyTokens };
}

function legacyTokensOf(
  { serviceAccounts, logger }: ApiServerOptions,
  { registry, user, clock, signal }: AuthenticationServer,
  audiences: readonly string[],
): LegacyServiceAccountTokens | undefined {
  if (serviceAccounts === undefined || registry === undefined) return undefined;
  const onError = (what: string, error: unknown): void => {
    if (!signal.aborted) logger?.warn({ err: error, what }, 'it cannot be noted that a token was used');
  };
  const uses = startTokenUseRecorder({ registry, user, clock, signal, onError });
  return new LegacyServiceAccountTokens({ registry, key: serviceAccounts.key, audiences, clock, uses });
}

function delegatedAuthentication(delegation: Delegation, anonymous: boolean, clock: () => number): Authentication {
  return {
    authenticate: delegation.authenticator({ anonymous }),
    creations: [
      ['authentication.k8s.io/tokenreviews', delegation.tokenReview],
      ['authentication.k8s.io/selfsubjectreviews', createSelfSubjectReview(clock)],
    ],
    serviceAccountTokens: undefined,
    legacyTokens: undefined,
  };
}
