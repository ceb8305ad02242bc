import type { KubeObject, ResourceType } from '@asterism/machinery';
import type { AdmissionRequest } from './admission-request.ts';
import { createAdmissionWebhook, pathFor } from './admission-webhook.ts';
import { Denial } from './denial.ts';
import type { Webhook } from './webhook.ts';

/**
 * A webhook that says whether a request may be done.
 *
 * @example {@link createValidatingWebhook}
 */
export interface ValidatingWebhookOptions<T extends KubeObject> {
  /**
   * The kind of the objects that its rules lead to; reviews of others are refused with 400. `scale`, `exec` and their like have
   * kinds of their own. Without a type it is asked about any kind, and needs a path.
   */
  type?: ResourceType<T> | undefined;
  /** Default: as kubebuilder has it, `/validate-GROUP-VERSION-KIND` with `-` for the dots of the group. */
  path?: string | undefined;
  /**
   * Returns {@link deny} with the reason, or nothing where the request may be done. What it throws is logged, and is no denial:
   * the webhook's `failurePolicy` says what becomes of the request.
   */
  validate(request: AdmissionRequest<T>): Denial | undefined | Promise<Denial | undefined>;
}

/**
 * For a ValidatingWebhookConfiguration.
 *
 * @example
 * ```ts
 * createValidatingWebhook({
 *   type: DEPLOYMENTS,
 *   validate({ operation, object }) {
 *     return operation === 'CREATE' && object.spec?.replicas === 1 ? deny('one replica is none') : undefined;
 *   },
 * });
 * ```
 */
export function createValidatingWebhook<T extends KubeObject>(options: ValidatingWebhookOptions<T>): Webhook {
  const { type } = options;
  return createAdmissionWebhook<T>({
    path: pathFor('validate', type, options.path),
    type,
    skipped: [],
    async decide(request) {
      const decision: unknown = await options.validate(request);
      if (decision instanceof Denial) return decision;
      if (decision === undefined) return [];
      throw new TypeError('validate() must return nothing, or what deny() returns');
    },
  });
}
