import type { KubeObject } from '@asterism/machinery';
import { type AdmissionPluginChoice, isPluginEnabled } from '../admission-plugins/plugin-names.ts';
import type { ResourceCache } from '../storage/resource-cache.ts';
import type { AdmissionCalls } from '../registry/admission-pipeline.ts';
import type { AdmissionAttributes } from '../registry/admission-attributes.ts';
import type { AdmissionWebhooks, AdmissionWebhooksOptions } from './admission-webhooks.ts';

const MUTATING = 'mutatingwebhookconfigurations.admissionregistration.k8s.io';
const VALIDATING = 'validatingwebhookconfigurations.admissionregistration.k8s.io';

export interface WebhookGateOptions extends Omit<AdmissionWebhooksOptions, 'stopped'> {
  /** Default: both kinds are called. */
  plugins?: AdmissionPluginChoice | undefined;
  /**
   * What the server writes while it starts is nobody's request: a webhook that is away must not keep it from starting, as
   * nobody could take the configuration away then.
   */
  isStarting?: (() => boolean) | undefined;
}

/**
 * The way to admission webhooks: who writes looks here whether there are any, which costs nothing; what calls them is loaded when
 * the first write is made after the first configuration.
 */
export class WebhookGate implements AdmissionCalls {
  readonly #options: WebhookGateOptions;
  readonly #mutating: ResourceCache;
  readonly #validating: ResourceCache;
  readonly #calls: { mutating: boolean; validating: boolean };
  readonly #stopped = new AbortController();
  #webhooks: Promise<AdmissionWebhooks> | undefined;

  constructor(options: WebhookGateOptions) {
    this.#options = options;
    this.#calls = {
      mutating: isPluginEnabled(options.plugins, 'MutatingAdmissionWebhook'),
      validating: isPluginEnabled(options.plugins, 'ValidatingAdmissionWebhook'),
    };
    this.#mutating = options.store.cache(MUTATING);
    this.#validating = options.store.cache(VALIDATING);
  }

  get mutates(): boolean {
    return this.#mutating.size > 0 && this.#calls.mutating && !this.#options.isStarting?.();
  }

  get validates(): boolean {
    return this.#validating.size > 0 && this.#calls.validating && !this.#options.isStarting?.();
  }

  async mutate(
    request: AdmissionAttributes,
    replay: (object: KubeObject | undefined) => Promise<KubeObject | undefined>,
  ): Promise<KubeObject | undefined> {
    return await (await this.#load()).mutate(request, replay);
  }

  async validate(request: AdmissionAttributes): Promise<void> {
    await (await this.#load()).validate(request);
  }

  /** Ends what is under way: whoever waits for a webhook is answered as if it had failed. */
  close(): void {
    this.#stopped.abort();
  }

  #load(): Promise<AdmissionWebhooks> {
    this.#webhooks ??= import('./admission-webhooks.ts').then(
      (module) => new module.AdmissionWebhooks({ ...this.#options, stopped: this.#stopped.signal }),
    );
    return this.#webhooks;
  }
}
