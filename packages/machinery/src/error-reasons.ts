import { isStatusError, type StatusError } from './status.ts';
import type { StatusReason } from './object.ts';

/*
 * The questions of apimachinery's `api/errors`, by the same rule: the reason decides; the code does where the answer has no reason
 * that Kubernetes knows, as that of a proxy.
 */

/** What was asked for is not there, or the kind is not served. */
export function isNotFound(error: unknown): error is StatusError {
  return hasReason(error, 'NotFound', 404);
}

/** An object of that name is there already. */
export function isAlreadyExists(error: unknown): error is StatusError {
  return hasReason(error, 'AlreadyExists');
}

/** The object was changed meanwhile: read it again; or server-side apply met fields that another manager owns. */
export function isConflict(error: unknown): error is StatusError {
  return hasReason(error, 'Conflict', 409);
}

/** The object breaks a rule of its kind: repeating it does not help. */
export function isInvalid(error: unknown): error is StatusError {
  return hasReason(error, 'Invalid', 422);
}

/** Who asks may not: by RBAC, an admission webhook or a quota. */
export function isForbidden(error: unknown): error is StatusError {
  return hasReason(error, 'Forbidden', 403);
}

/** The credentials were not accepted. */
export function isUnauthorized(error: unknown): error is StatusError {
  return hasReason(error, 'Unauthorized', 401);
}

/** The request makes no sense to the server. */
export function isBadRequest(error: unknown): error is StatusError {
  return hasReason(error, 'BadRequest', 400);
}

/** The kind does not have this verb. */
export function isMethodNotSupported(error: unknown): error is StatusError {
  return hasReason(error, 'MethodNotAllowed', 405);
}

/** The server has no answer in the form that was asked for. */
export function isNotAcceptable(error: unknown): error is StatusError {
  return hasReason(error, 'NotAcceptable', 406);
}

/** The server does not read bodies of this form: that kind of patch, for one. */
export function isUnsupportedMediaType(error: unknown): error is StatusError {
  return hasReason(error, 'UnsupportedMediaType', 415);
}

/** The object is larger than the server takes. */
export function isRequestEntityTooLarge(error: unknown): error is StatusError {
  return hasReason(error, 'RequestEntityTooLarge', 413);
}

/**
 * The server has too much to do; `retryAfterSeconds` says when to come back. Also an eviction that a disruption budget forbids for now.
 */
export function isTooManyRequests(error: unknown): error is StatusError {
  return hasReason(error, 'TooManyRequests', 429);
}

/** What was asked for was there and is no more. */
export function isGone(error: unknown): error is StatusError {
  return hasReason(error, 'Gone', 410);
}

/** The resourceVersion, or the token of a page, is no longer held: list anew. */
export function isResourceExpired(error: unknown): error is StatusError {
  return hasReason(error, 'Expired');
}

/** The server could not answer in time, and says so: try again. */
export function isServerTimeout(error: unknown): error is StatusError {
  return hasReason(error, 'ServerTimeout');
}

/** The request took longer than the server allows: it may have been done. */
export function isTimeout(error: unknown): error is StatusError {
  return hasReason(error, 'Timeout');
}

/** The server, or the one behind it, does not serve for now. */
export function isServiceUnavailable(error: unknown): error is StatusError {
  return hasReason(error, 'ServiceUnavailable');
}

/** Something went wrong within the server. */
export function isInternalError(error: unknown): error is StatusError {
  return hasReason(error, 'InternalError', 500);
}

function hasReason(error: unknown, reason: StatusReason, code?: number): error is StatusError {
  if (!isStatusError(error)) return false;
  return error.reason === reason || (error.code === code && !KNOWN.has(error.reason));
}

/** `knownReasons` of apimachinery. */
const KNOWN: ReadonlySet<StatusReason> = new Set<StatusReason>([
  'Unauthorized',
  'Forbidden',
  'NotFound',
  'AlreadyExists',
  'Conflict',
  'Gone',
  'Invalid',
  'ServerTimeout',
  'Timeout',
  'TooManyRequests',
  'BadRequest',
  'MethodNotAllowed',
  'NotAcceptable',
  'RequestEntityTooLarge',
  'UnsupportedMediaType',
  'InternalError',
  'Expired',
  'ServiceUnavailable',
]);
