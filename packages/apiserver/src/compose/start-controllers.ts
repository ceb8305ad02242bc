import { wallNow } from '@asterism/client';
import type { UserInfo } from '../contract/user-info.ts';
import type { Registry } from '../registry/registry.ts';
import type { Controller, ControllerOptions } from '../controllers/controller-options.ts';
import { startExpiryController } from '../controllers/expiry-controller.ts';
import { startGarbageCollector } from '../controllers/garbage-collector.ts';
import { startNamespaceController } from '../controllers/namespace-controller.ts';
import { startQuotaController } from '../admission-plugins/quota/quota-controller.ts';
import { startServiceAccountController } from '../controllers/service-account-controller.ts';
import { startVolumeProtectionController } from '../controllers/volume-protection-controller.ts';

export interface StartControllersOptions {
  registry: Registry;
  /** Who the controllers are in what they write. */
  user: UserInfo;
  signal: AbortSignal;
  /** PEM of the server's own CA, published as `kube-root-ca.crt`; without it there is no such ConfigMap. */
  rootCa?: string | undefined;
  /** Milliseconds since 1970. */
  clock?: () => number;
  /** Told of work that failed and is tried again; `what` names the object. */
  onError?: (what: string, error: unknown) => void;
}

/** What a server does by itself with what it stores, until the signal: see the controllers one by one. */
export function startControllers({
  clock = wallNow,
  onError = () => {},
  ...rest
}: StartControllersOptions): Controller {
  const options: ControllerOptions = { ...rest, clock, onError };
  const controllers = [
    startNamespaceController(options),
    startGarbageCollector(options),
    startServiceAccountController({ ...options, rootCa: rest.rootCa }),
    startExpiryController(options),
    startQuotaController(options),
    startVolumeProtectionController(options),
  ];
  return {
    async settled() {
      // One controller's writes are another's work; twice around is enough for what they do.
      for (let round = 0; round < 2; round++) for (const controller of controllers) await controller.settled();
    },
  };
}
