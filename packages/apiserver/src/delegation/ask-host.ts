import { type Client, ClientError } from '@asterism/client';
import { failure, isStatusError, type KubeObject, type ResourceType } from '@asterism/machinery';
import type { ServerLogger } from '../contract/server-logger.ts';

/** As upstream's delegating servers. */
const TIMEOUT_MS = 10_000;

export interface HostOptions {
  client: Client;
  logger: ServerLogger | undefined;
  /** Ends questions that are under way. */
  signal: AbortSignal;
}

/**
 * Posts a review to the host and gives it back with its status. Rejects with 503 where the host does not answer, and with 500
 * where it does not let this server ask: never with an answer of its own.
 */
export async function askHost<T extends KubeObject>(
  { client, logger, signal }: HostOptions,
  type: ResourceType<T>,
  review: T,
): Promise<T> {
  try {
    const limit = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]);
    return await client.resource(type).create(review, { signal: limit });
  } catch (error) {
    logger?.error({ err: error, resource: type.resource }, 'the API server that decides could not be asked');
    if (isStatusError(error) && (error.code === 401 || error.code === 403)) {
      throw failure(500, `${HOST} does not let this server create ${type.resource}: ${REMEDY}`, { cause: error });
    }
    const why = error instanceof ClientError ? error.code : isStatusError(error) ? String(error.code) : 'no answer';
    throw failure(503, `${HOST} did not answer the ${type.kind} of this request (${why}); try again`, {
      cause: error,
      details: { retryAfterSeconds: 1 },
    });
  }
}

const HOST = 'the API server that this one delegates to';
const REMEDY = 'bind the ClusterRole system:auth-delegator there to the identity that this server uses';
