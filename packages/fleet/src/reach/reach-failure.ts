import { ClientError } from '@asterism/client';
import { failure, StatusError } from '@asterism/machinery';
import { isTunnelError } from '@asterism/tunnel';

/**
 * What a caller is told of a call that did not reach a member, or brought no answer. Names the cluster; not the address, which
 * is not every caller's to know.
 */
export function reachFailure(error: unknown, clusterName: string): StatusError {
  if (error instanceof StatusError) return error;
  if (isTunnelError(error)) {
    const what = error.reason === 'NOT_CONNECTED' ? 'cannot be reached: its agent is not connected' : error.message;
    return failure(error.statusCode, `cluster "${clusterName}" ${what}`, { cause: error });
  }
  if (error instanceof ClientError) {
    return failure(503, `cluster "${clusterName}" cannot be reached by the hub (${error.code})`, { cause: error });
  }
  return failure(500, `the call to cluster "${clusterName}" failed in the hub`, { cause: error });
}
