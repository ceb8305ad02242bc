import type { ApiServerOptions } from './api-server-options.ts';
import type { UserInfo } from './authentication/user-info.ts';
import { startOwnStatusController } from './controllers/own-status-controller.ts';
import { startControllers } from './controllers/start-controllers.ts';
import { CLIENT_SIGNER, startSigningController } from './pki/signing-controller.ts';
import type { Registry } from './registry/registry.ts';

/** Starts what belongs to the server itself, whether controllers run or not, until the signal. */
export function startOwnWork(options: ApiServerOptions, registry: Registry, user: UserInfo, signal: AbortSignal): void {
  const { clock = Date.now, logger } = options;
  const onError = (what: string, error: unknown): void => {
    if (!signal.aborted) logger?.warn({ err: error, what }, 'a controller failed and tries again');
  };
  startOwnStatusController({ registry, user, signal, clock, onError });
}

/** Starts what a server does by itself, until the signal. `ended` is fulfilled when nothing of it holds the registry. */
export function startBackgroundWork(
  options: ApiServerOptions,
  registry: Registry,
  user: UserInfo,
  signal: AbortSignal,
): { ended: Promise<unknown> } {
  const { clock = Date.now, logger, signer } = options;
  const onError = (what: string, error: unknown): void => {
    if (!signal.aborted) logger?.warn({ err: error, what }, 'a controller failed and tries again');
  };
  startControllers({
    registry,
    user,
    signal,
    rootCa: options.rootCa ?? signer?.cert ?? options.clientCa,
    clock,
    onError,
  });
  if (signer === undefined) return { ended: Promise.resolve() };
  const signerNames = [CLIENT_SIGNER, ...(options.signerNames ?? [])];
  const signing = startSigningController({ registry, ca: signer, signerNames, user, clock, signal, onError });
  return { ended: signing.ended.catch((error: unknown) => onError('certificatesigningrequests', error)) };
}
