import {
  type FieldError,
  failure,
  type GroupVersionKind,
  invalid,
  type Status,
  StatusError,
} from '@asterism/machinery';

/**
 * Why a request is refused. Made by {@link deny}.
 *
 * @example {@link deny}
 */
export class Denial {
  readonly #reason: string | StatusError | readonly FieldError[];

  constructor(reason: string | StatusError | readonly FieldError[]) {
    this.#reason = reason;
  }

  /** What the user is told, of the object that was asked about. */
  statusOf({ kind, name }: { kind: GroupVersionKind; name: string }): Status {
    if (typeof this.#reason === 'string') return failure(403, this.#reason).status;
    return (this.#reason instanceof StatusError ? this.#reason : invalid(kind, name, this.#reason)).status;
  }
}

/**
 * What a webhook returns that refuses a request. A text is told as 403 Forbidden, faults of fields as 422 Invalid with a cause for
 * each, a `StatusError` (`conflict`, `failure(429, …)`) as it is. No faults are no denial: the answer is then undefined.
 *
 * @example
 * ```ts
 * createValidatingWebhook({
 *   type: DEPLOYMENTS,
 *   validate({ operation, oldObject, object }) {
 *     if (operation === 'DELETE') return oldObject.metadata?.labels?.['keep'] ? deny('it is to be kept') : undefined;
 *     const replicas = object?.spec?.replicas ?? 1;
 *     return deny(replicas > 100 ? [fieldInvalid('spec.replicas', replicas, 'must be at most 100')] : []);
 *   },
 * });
 * ```
 */
export function deny(reason: string | StatusError): Denial;
export function deny(faults: readonly FieldError[]): Denial | undefined;
export function deny(reason: string | StatusError | readonly FieldError[]): Denial | undefined {
  return Array.isArray(reason) && reason.length === 0 ? undefined : new Denial(reason);
}
