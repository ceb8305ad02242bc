import { cutForMessage } from './cut-for-message.ts';
import { formatGroupResource } from './kinds.ts';
import type { Status, StatusCause, StatusReason } from './object.ts';
import { shortStatus } from './short-status.ts';

const REASON_BY_CODE: Record<number, StatusReason> = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  405: 'MethodNotAllowed',
  406: 'NotAcceptable',
  409: 'Conflict',
  410: 'Gone',
  413: 'RequestEntityTooLarge',
  415: 'UnsupportedMediaType',
  422: 'Invalid',
  429: 'TooManyRequests',
  500: 'InternalError',
  503: 'ServiceUnavailable',
  504: 'Timeout',
};

/** An error that is a Kubernetes `Status`: what a server answers, and what a client throws. Of a long one it has the start. */
export class StatusError extends Error {
  override readonly name = 'StatusError';
  readonly status: Status;

  constructor(status: Status, options?: ErrorOptions) {
    const short = shortStatus(status);
    super(short.message ?? `request failed with ${short.code ?? 'no code'}`, options);
    this.status = short;
  }

  get code(): number {
    return this.status.code ?? 500;
  }

  get reason(): StatusReason {
    return this.status.reason ?? 'Unknown';
  }

  /** Seconds that the server asks to wait before the next try. */
  get retryAfterSeconds(): number | undefined {
    return this.status.details?.retryAfterSeconds;
  }
}

export function isStatusError(error: unknown, reason?: StatusReason): error is StatusError {
  return error instanceof StatusError && (reason === undefined || error.reason === reason);
}

export interface ResourceName {
  group: string;
  resource: string;
}

/** A failure of any code; the reason follows from the code unless given. */
export function failure(
  code: number,
  message: string,
  extra: { reason?: StatusReason; details?: NonNullable<Status['details']>; cause?: unknown } = {},
): StatusError {
  const status: Status = {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message,
    reason: extra.reason ?? REASON_BY_CODE[code] ?? 'Unknown',
    ...(extra.details ? { details: extra.details } : {}),
    code,
  };
  return new StatusError(status, extra.cause === undefined ? undefined : { cause: extra.cause });
}

/** Kubernetes puts the *resource* into `details.kind` of these; clients print it so. */
function detailsOf({ group, resource }: ResourceName, name: string): NonNullable<Status['details']> {
  return { ...(name ? { name } : {}), ...(group ? { group } : {}), kind: resource };
}

export function notFound(type: ResourceName, name: string): StatusError {
  return failure(404, `${formatGroupResource(type)} "${name}" not found`, { details: detailsOf(type, name) });
}

export function alreadyExists(type: ResourceName, name: string): StatusError {
  return failure(409, `${formatGroupResource(type)} "${name}" already exists`, {
    reason: 'AlreadyExists',
    details: detailsOf(type, name),
  });
}

export function conflict(type: ResourceName, name: string, why: string): StatusError {
  return failure(409, `Operation cannot be fulfilled on ${formatGroupResource(type)} "${name}": ${why}`, {
    details: detailsOf(type, name),
  });
}

export function forbidden(type: ResourceName, name: string, why: string): StatusError {
  const what = name === '' ? formatGroupResource(type) : `${formatGroupResource(type)} "${name}"`;
  return failure(403, `${what} is forbidden: ${why}`, { details: detailsOf(type, name) });
}

export function badRequest(message: string): StatusError {
  return failure(400, message);
}

export function unauthorized(): StatusError {
  return failure(401, 'Unauthorized');
}

/** 410 `Expired`: the resourceVersion asked for is no longer held. The client lists again. */
export function expired(message: string): StatusError {
  return failure(410, message, { reason: 'Expired' });
}

export type FieldErrorType =
  | 'FieldValueRequired'
  | 'FieldValueInvalid'
  | 'FieldValueNotSupported'
  | 'FieldValueDuplicate'
  | 'FieldValueForbidden'
  | 'FieldValueTooLong'
  | 'FieldValueTooMany'
  | 'FieldValueTypeInvalid'
  | 'FieldValueNotFound'
  | 'InternalError';

/** One fault of one field, e.g. `spec.replicas`, as `field.Error` of apimachinery. */
export interface FieldError {
  type: FieldErrorType;
  field: string;
  /** The whole text after `field: `, e.g. `Invalid value: -1: must be greater than or equal to 0`. */
  message: string;
}

/** So many faults, or so much text of them, one answer tells: a body of 3 MB can have 150,000, each with the value it is about. */
export const MAX_TOLD_FAULTS = 1000;
const MAX_TOLD_LENGTH = 256 * 1024;
/** Longest field and longest message of one fault. */
const MOST_OF_FAULT = 64 * 1024;

/**
 * 422 with a cause for each fault, in Kubernetes' wording: `Deployment.apps "web" is invalid: spec.x: Required value`. A fault
 * that is there twice is told once in the message; of very many only the first are told, and that there are more. A very long one is cut.
 */
export function invalid(
  type: { group: string; kind: string },
  name: string,
  errors: readonly FieldError[],
): StatusError {
  const told = firstFaults(errors);
  const text = [...new Set(told.map((error) => `${error.field}: ${error.message}`))];
  const what = formatGroupResource({ group: type.group, resource: type.kind });
  const causes: StatusCause[] = told.map(({ type: reason, message, field }) => ({ reason, message, field }));
  return failure(
    422,
    `${what} "${cutForMessage(name)}" is invalid: ${text.length === 1 ? text[0] : `[${text.join(', ')}]`}`,
    {
      details: { ...(name ? { name } : {}), ...(type.group ? { group: type.group } : {}), kind: type.kind, causes },
    },
  );
}

function firstFaults(errors: readonly FieldError[]): readonly FieldError[] {
  let length = 0;
  const told: FieldError[] = [];
  for (const { type, field, message } of errors) {
    const fault = { type, field: cutForMessage(field, MOST_OF_FAULT), message: cutForMessage(message, MOST_OF_FAULT) };
    length += fault.field.length + fault.message.length;
    if (told.length >= MAX_TOLD_FAULTS || length > MAX_TOLD_LENGTH) break;
    told.push(fault);
  }
  if (told.length === errors.length) return told;
  const message = `Too many: only the first ${told.length} faults are told`;
  return [...told, { type: 'FieldValueTooMany', field: '<nil>', message }];
}

/** The answer of a delete that is complete. */
export function success(details?: Status['details']): Status {
  return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', ...(details ? { details } : {}) };
}
