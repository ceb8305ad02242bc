import { ClientError, type Transport } from '@asterism/client';
import { failure, formatApiVersion, type StatusError } from '@asterism/machinery';

/** Why the other server gave no answer, for a caller who knows nothing of it. */
export function forwardFailure(
  { group, version, transport }: { group: string; version: string; transport: Transport },
  error: unknown,
): StatusError {
  const where = transport.server === undefined ? '' : ` (${transport.server})`;
  const why = error instanceof ClientError ? error.code : 'no answer';
  const message = `the API server that serves ${formatApiVersion({ group, version })}${where} cannot be reached: ${why}; try again`;
  return failure(503, message, { cause: error, details: { retryAfterSeconds: 1 } });
}
