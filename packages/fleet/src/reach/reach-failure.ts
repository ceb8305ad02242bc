import { ClientError } from '@asterism/client';
import { failure, StatusError } from '@asterism/machinery';
import { isTunnelError, type TunnelError } from '@asterism/tunnel';
import { refusedFor } from './refusal.ts';

/** The codes of a server, or of a way to it, from which nothing comes. */
const SILENT = new Set(['ETIMEDOUT', 'ERR_PING_TIMEOUT', 'ERR_RESPONSE_TIMEOUT']);

/**
 * What a caller is told of a call that did not reach a member, or brought no answer. Names the cluster and what to do; not the
 * address, which is not every caller's to know: the log has it. A `destination` the caller named himself.
 */
export function reachFailure(error: unknown, clusterName: string, destination?: string): StatusError {
  if (error instanceof StatusError) return error;
  if (isTunnelError(error)) {
    const told = failure(error.statusCode, tunnelFailure(error, clusterName, destination), { cause: error });
    return error.reason === 'REFUSED' ? refusedFor('AgentRefused', told) : told;
  }
  if (error instanceof ClientError) {
    const { code } = error;
    if (code === 'ERR_INVALID_ANSWER') {
      return failure(502, `cluster "${clusterName}" gave an answer that is malformed: ${error.message}`, {
        cause: error,
      });
    }
    const silent = SILENT.has(code);
    const why = silent
      ? `its API server does not answer the hub (${code}): see whether it runs and is not overloaded, and whether a firewall ` +
        'stands between'
      : `the hub gets no connection to its API server (${code}): see whether it runs, and whether the address that the agent ` +
        'was given is right';
    const message = `cluster "${clusterName}" cannot be reached: ${why}`;
    return failure(silent ? 504 : 503, message, { cause: error });
  }
  return failure(500, `the call to cluster "${clusterName}" failed in the hub: its log says why`, { cause: error });
}

function tunnelFailure(error: TunnelError, clusterName: string, destination: string | undefined): string {
  switch (error.reason) {
    case 'NOT_CONNECTED':
      return `cluster "${clusterName}" cannot be reached: its agent is not connected; see whether it runs there, and what it logs`;
    case 'TARGET':
      if (destination !== undefined) {
        return (
          `${destination} cannot be reached: the agent of cluster "${clusterName}" got no answer from it; see whether it runs. The ` +
          'logs of the hub and of the agent have the cause'
        );
      }
      return (
        `cluster "${clusterName}" cannot be reached: its agent got no answer from its API server; see whether that runs and is ` +
        'not overloaded. The logs of the hub and of the agent have the cause'
      );
    default:
      return `cluster "${clusterName}": ${error.message}`;
  }
}
