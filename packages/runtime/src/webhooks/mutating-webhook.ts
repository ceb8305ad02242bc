import { cloneJson, isJsonObject, type KubeObject, parseJson, type ResourceType } from '@asterism/machinery';
import type { AdmissionRequest, DeleteRequest } from './admission-request.ts';
import { createAdmissionWebhook, pathFor } from './admission-webhook.ts';
import { Denial } from './denial.ts';
import { diffJson } from './diff-json.ts';
import type { Webhook } from './webhook.ts';

/**
 * A request that has an object to change.
 *
 * @example {@link createMutatingWebhook}
 */
export type MutationRequest<T extends KubeObject = KubeObject> = Exclude<AdmissionRequest<T>, DeleteRequest<T>>;

/**
 * A webhook that changes what is stored.
 *
 * @example {@link createMutatingWebhook}
 */
export interface MutatingWebhookOptions<T extends KubeObject> {
  /**
   * The kind of the objects that its rules lead to; reviews of others are refused with 400. `scale`, `exec` and their like have
   * kinds of their own. Without a type it is asked about any kind, and needs a path.
   */
  type?: ResourceType<T> | undefined;
  /** Default: as kubebuilder has it, `/mutate-GROUP-VERSION-KIND` with `-` for the dots of the group. */
  path?: string | undefined;
  /**
   * Returns the object as it should be: `request.object`, which is yours to change, or another one. Or {@link deny} with the
   * reason. What it throws is logged, and is no denial: the webhook's `failurePolicy` says what becomes of the request.
   */
  mutate(request: MutationRequest<T>): NoInfer<T> | Denial | Promise<NoInfer<T> | Denial>;
}

/**
 * For a MutatingWebhookConfiguration. What the returned object has different from the one that came is sent as a JSON patch, so
 * fields that your types do not know stay. Deletions are allowed without being asked about: there is nothing to change.
 *
 * @example
 * ```ts
 * createMutatingWebhook({
 *   type: DEPLOYMENTS,
 *   mutate({ object }) {
 *     if (object.spec) object.spec.revisionHistoryLimit ??= 3;
 *     return object;
 *   },
 * });
 * ```
 */
export function createMutatingWebhook<T extends KubeObject>(options: MutatingWebhookOptions<T>): Webhook {
  const { type } = options;
  return createAdmissionWebhook<T>({
    path: pathFor('mutate', type, options.path),
    type,
    skipped: ['DELETE'],
    async decide(request) {
      if (request.operation === 'DELETE') return [];
      const before = cloneJson(request.object);
      const decision: unknown = await options.mutate(request);
      if (decision instanceof Denial) return decision;
      if (!isJsonObject(decision)) throw new TypeError('mutate() must return the object, or what deny() returns');
      return diffJson(before, parseJson(JSON.stringify(decision)));
    },
  });
}
