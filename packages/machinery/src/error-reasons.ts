import { isStatusError, type StatusError } from './status.ts';
import type { StatusReason } from './object.ts';

/*
 * The questions of apimachinery's `api/errors` that a controller asks, by the same rule: the reason decides; the code does where the
 * answer has no reason that Kubernetes knows, as that of a proxy. For any other reason, compare `error.reason`.
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
