import {
  badRequest,
  type GroupVersionKind,
  type GroupVersionResource,
  isJsonObject,
  type KubeObject,
  type UserInfo,
} from '@asterism/machinery';
import type { Logger } from '../log/logger.ts';
import type { Review } from './review.ts';
import type { ReviewContext } from './webhook.ts';

/**
 * What an AdmissionReview says of every request, in its own words, and what can be said beside yes and no.
 *
 * @example {@link createValidatingWebhook}
 */
export interface AdmissionFacts {
  readonly uid: string;
  /** What the objects are shown as: a kind of the webhook's rules. */
  readonly kind: GroupVersionKind;
  readonly resource: GroupVersionResource;
  /** `status`, `scale`, …; undefined where the object itself was asked for. */
  readonly subResource: string | undefined;
  /** What the user asked for; the API server converts it where `matchPolicy` is `Equivalent`. */
  readonly requestKind: GroupVersionKind;
  readonly requestResource: GroupVersionResource;
  readonly requestSubResource: string | undefined;
  /** Empty where the API server is yet to make one of `generateName`. */
  readonly name: string;
  /** Undefined outside namespaces. */
  readonly namespace: string | undefined;
  readonly userInfo: UserInfo;
  /** Nothing will be stored, so nothing may be done elsewhere either. */
  readonly dryRun: boolean;
  /** `CreateOptions`, `UpdateOptions`, `PatchOptions` or `DeleteOptions`. */
  readonly options: KubeObject | undefined;
  /** Aborts when the API server no longer waits. */
  readonly signal: AbortSignal;
  readonly logger: Logger;
  /** The user is shown this text beside the outcome; it should have at most 256 characters. */
  readonly warn: (text: string) => void;
  /** Adds to the audit log; the API server puts the webhook's name and `/` before the key. */
  readonly annotate: (key: string, value: string) => void;
}

/**
 * An object is to be made.
 *
 * @example {@link createValidatingWebhook}
 */
export interface CreateRequest<T extends KubeObject> extends AdmissionFacts {
  readonly operation: 'CREATE';
  readonly object: T;
  readonly oldObject: undefined;
}

/**
 * An object is to be changed.
 *
 * @example {@link createValidatingWebhook}
 */
export interface UpdateRequest<T extends KubeObject> extends AdmissionFacts {
  readonly operation: 'UPDATE';
  readonly object: T;
  readonly oldObject: T;
}

/**
 * An object is to be deleted.
 *
 * @example {@link createValidatingWebhook}
 */
export interface DeleteRequest<T extends KubeObject> extends AdmissionFacts {
  readonly operation: 'DELETE';
  readonly object: undefined;
  readonly oldObject: T;
}

/**
 * Of `pods/exec`, `services/proxy` and their like: the objects are `PodExecOptions` and their like.
 *
 * @example {@link createValidatingWebhook}
 */
export interface ConnectRequest<T extends KubeObject> extends AdmissionFacts {
  readonly operation: 'CONNECT';
  readonly object: T;
  readonly oldObject: undefined;
}

/**
 * What an API server asks about; `operation` tells which of the objects are there.
 *
 * @example {@link createValidatingWebhook}
 */
export type AdmissionRequest<T extends KubeObject = KubeObject> =
  | CreateRequest<T>
  | UpdateRequest<T>
  | DeleteRequest<T>
  | ConnectRequest<T>;

/**
 * What is done to the object.
 *
 * @example {@link createValidatingWebhook}
 */
export type AdmissionOperation = AdmissionRequest['operation'];

/** Which objects a request must have. */
const OBJECTS: Readonly<Record<AdmissionOperation, readonly ('object' | 'oldObject')[]>> = {
  CREATE: ['object'],
  UPDATE: ['object', 'oldObject'],
  DELETE: ['oldObject'],
  CONNECT: ['object'],
};

/** What is told beside yes and no. */
export interface AdmissionRemarks {
  readonly warnings: string[];
  readonly auditAnnotations: Record<string, string>;
}

/** Throws 400 where the operation is none. */
export function readOperation({ request }: Review): AdmissionOperation {
  const { operation } = request;
  if (typeof operation === 'string' && Object.hasOwn(OBJECTS, operation)) return operation as AdmissionOperation;
  throw badRequest(`the AdmissionReview has no request.operation of ${Object.keys(OBJECTS).join(', ')}`);
}

/** Throws 400 where what every review has is not there. Whether the objects are of type `T` is the API server's word. */
export function readAdmissionRequest<T extends KubeObject>(
  review: Review,
  { signal, logger }: ReviewContext,
  remarks: AdmissionRemarks,
): AdmissionRequest<T> {
  const { uid, request } = review;
  const operation = readOperation(review);
  const needed = OBJECTS[operation];
  for (const field of ['kind', 'resource', ...needed]) {
    if (!isJsonObject(request[field]))
      throw badRequest(`the AdmissionReview of a ${operation} has no request.${field}`);
  }
  const { name, namespace, kind, resource, requestKind = kind, requestResource = resource } = request;
  const { subResource, requestSubResource = subResource, userInfo, options } = request;
  return {
    uid,
    operation,
    kind,
    resource,
    subResource: textOf(subResource),
    requestKind,
    requestResource,
    requestSubResource: textOf(requestSubResource),
    name: textOf(name) ?? '',
    namespace: textOf(namespace),
    userInfo: isJsonObject(userInfo) ? userInfo : {},
    dryRun: request['dryRun'] === true,
    options: isJsonObject(options) ? options : undefined,
    object: needed.includes('object') ? request['object'] : undefined,
    oldObject: needed.includes('oldObject') ? request['oldObject'] : undefined,
    signal,
    logger,
    warn: (text) => void remarks.warnings.push(text),
    annotate: (key, value) => {
      remarks.auditAnnotations[key] = value;
    },
  } as AdmissionRequest<T>;
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
