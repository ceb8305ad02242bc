import type { ApiServerOptions } from '../api-server-options.ts';
import type { Delegation } from '../delegation/delegation.ts';
import type { Creation } from '../http/creation.ts';
import type { Registry } from '../registry/registry.ts';
import { createRequestAuthenticator, type RequestAuthenticator, type TokenAuthenticator } from './authenticator.ts';
import { createBootstrapTokenAuthenticator } from './bootstrap-tokens.ts';
import { LegacyServiceAccountTokens } from './legacy-service-account-tokens.ts';
import { createOidcAuthenticator } from './oidc-authenticator.ts';
import { ServiceAccountTokens } from './service-account-tokens.ts';
import { createStaticTokenAuthenticator } from './static-tokens.ts';
import { createTokenRequest } from './token-request.ts';
import { createSelfSubjectReview, createTokenReview } from './token-review.ts';

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

/** The ways to prove who one is that the options turn on. `registry`: undefined where the server has no kinds of its own. */
export function createAuthentication(
  options: ApiServerOptions,
  registry: Registry | undefined,
  clock: () => number,
): Authentication {
  const { anonymous = true, delegation } = options;
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
  const key = options.serviceAccounts?.key;
  const legacyTokens =
    key === undefined || registry === undefined
      ? undefined
      : new LegacyServiceAccountTokens({ registry, key, audiences, clock });
  if (legacyTokens !== undefined) tokens.push((token) => legacyTokens.authenticate(token));
  const whyRefused = serviceAccountTokens && ((token: string) => serviceAccountTokens.whyRefused(token));
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
