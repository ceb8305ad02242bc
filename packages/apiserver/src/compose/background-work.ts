import { wallNow } from '@asterism/client';
import type { ApiServerOptions } from './api-server-options.ts';
import type { LegacyServiceAccountTokens } from '../authentication/legacy-service-account-tokens.ts';
import { startLegacyTokenTracking } from '../authentication/legacy-token-tracking.ts';
import { startTokenSecretController } from '../authentication/token-secret-controller.ts';
import type { UserInfo } from '../contract/user-info.ts';
import type { Authorizer } from '../contract/authorizer.ts';
import { startOwnStatusController } from '../controllers/own-status-controller.ts';
import { startControllers } from './start-controllers.ts';
import { startSigningApprover } from '../pki/signing-approver.ts';
import { startSigningCleaner } from '../pki/signing-cleaner.ts';
import { startSigningController } from '../pki/signing-controller.ts';
import { BUILT_IN_SIGNERS } from '../pki/signer-rules.ts';
import type { Registry } from '../registry/registry.ts';

/** Starts what belongs to the server itself, whether controllers run or not, until the signal. */
export function startOwnWork(options: ApiServerOptions, registry: Registry, user: UserInfo, signal: AbortSignal): void {
  const { clock = wallNow, logger } = options;
  const onError = (what: string, error: unknown): void => {
    if (!signal.aborted) logger?.warn({ err: error, what }, 'a controller failed and tries again');
  };
  startOwnStatusController({ registry, user, signal, clock, onError });
  if (options.serviceAccounts !== undefined) startLegacyTokenTracking({ registry, user, signal, clock, onError });
}

export interface BackgroundWork {
  registry: Registry;
  /** Who the server is in what it writes. */
  user: UserInfo;
  authorizer: Authorizer;
  /** Undefined where the server has no service account tokens. */
  legacyTokens: LegacyServiceAccountTokens | undefined;
  signal: AbortSignal;
}

/** Starts what a server does by itself, until the signal. `ended` is fulfilled when nothing of it holds the registry. */
export function startBackgroundWork(options: ApiServerOptions, work: BackgroundWork): { ended: Promise<unknown> } {
  const { registry, user, authorizer, legacyTokens, signal } = work;
  const { clock = wallNow, logger, signer } = options;
  const onError = (what: string, error: unknown): void => {
    if (!signal.aborted) logger?.warn({ err: error, what }, 'a controller failed and tries again');
  };
  const rootCa = options.rootCa ?? signer?.cert ?? options.clientCa;
  startControllers({ registry, user, signal, rootCa, clock, onError });
  if (legacyTokens !== undefined) {
    startTokenSecretController({ registry, user, signal, rootCa, clock, onError, tokens: legacyTokens });
  }
  startSigningCleaner({ registry, user, clock, signal, onError });
  if (signer === undefined) return { ended: Promise.resolve() };
  const durationMs = options.signingDurationMs;
  const signerNames = [...BUILT_IN_SIGNERS, ...(options.signerNames ?? [])];
  const running = [
    startSigningController({
      registry,
      ca: signer,
      signerNames,
      durationMs,
      privilegedGroups: options.privilegedGroups,
      user,
      clock,
      signal,
      onError,
    }),
    startSigningApprover({ registry, authorizer, user, signal, onError }),
  ];
  const failed = (error: unknown): void => onError('certificatesigningrequests', error);
  return { ended: Promise.all(running.map(({ ended }) => ended.catch(failed))) };
}
