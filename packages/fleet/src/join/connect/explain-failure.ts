import { ClientError, isUnknownAuthority, wallNow } from '@asterism/client';
import { StatusError } from '@asterism/machinery';
import { JoinError } from '../join-error.ts';

/** Which credential the failed call carried. */
export type Carried = 'token' | 'certificate';

const CLOCK = new Set(['CERT_NOT_YET_VALID', 'CERT_HAS_EXPIRED']);

/** A server that is there, but is not the one that the CA vouches for. */
const isUntrusted = (code: string): boolean => isUnknownAuthority(code) || code === 'ERR_TLS_CERT_ALTNAME_INVALID';

/**
 * Says what a failed call to the hub means for a cluster that joins. Undefined where waiting may help and a person need not
 * know: conflicts, overload, a server that starts.
 */
export function explainHubFailure(error: unknown, server: string, carried: Carried): JoinError | undefined {
  if (error instanceof JoinError) return error;
  if (error instanceof ClientError) return networkFailure(error, server);
  if (!(error instanceof StatusError)) return undefined;
  if (error.code === 401) {
    return carried === 'token'
      ? new JoinError(
          'TokenRefused',
          `the hub ${server} does not take the bootstrap token: it is wrong, expired or revoked. Ask an administrator ` +
            'of the hub for a new one; if it is fresh, compare the clocks of both machines',
          error,
        )
      : new JoinError(
          'CredentialRefused',
          `the hub ${server} does not take this agent's certificate any more: it expired, or the cluster left. ` +
            'Join again with a bootstrap token',
          error,
        );
  }
  if (error.code === 403) {
    return carried === 'token'
      ? new JoinError(
          'TokenRefused',
          `the hub ${server} knows the bootstrap token, but it may not be used to join: ${error.message}`,
          error,
        )
      : new JoinError(
          'CredentialRefused',
          `the hub ${server} knows this agent, but gives it no rights (has the cluster left?): ${error.message}`,
          error,
        );
  }
  if (error.code === 404 || error.code === 422 || error.code === 400) {
    return new JoinError('RequestRefused', `the hub ${server} does not accept the request: ${error.message}`, error);
  }
  return undefined;
}

function networkFailure(error: ClientError, server: string): JoinError {
  if (CLOCK.has(error.code)) {
    return new JoinError(
      'ClockOff',
      `the hub's certificate is not valid at ${new Date(wallNow()).toISOString()}, by this machine's clock (${error.code}). ` +
        `Set the clocks of this machine and of ${server} right`,
      error,
    );
  }
  if (isUntrusted(error.code)) {
    return new JoinError(
      'HubNotTrusted',
      `what answers at ${server} is not the hub that the CA vouches for (${error.code}). Check the address and the CA`,
      error,
    );
  }
  return new JoinError('HubUnreachable', `the hub does not answer: ${error.message}`, error);
}

/** Whether waiting may help: the hub may come back, a clock or a CA will not by itself. */
export function mayPass(error: JoinError): boolean {
  return error.code === 'HubUnreachable' || error.code === 'MemberUnreachable';
}

/** The codes of a credential that cannot be had at the moment. */
const CREDENTIAL = new Set(['ERR_TOKEN_FILE', 'ERR_EXEC_CREDENTIAL']);

function memberNetworkFailure(error: ClientError): JoinError {
  if (CLOCK.has(error.code) || isUntrusted(error.code)) {
    return new JoinError(
      'MemberNotTrusted',
      `what answers as the agent's own API server is not what the agent's kubeconfig or service account vouches for: ` +
        `${error.message}. Check the address, the CA and this machine's clock`,
      error,
    );
  }
  const what = CREDENTIAL.has(error.code)
    ? 'the agent has no credential for its own API server'
    : "the agent's own API server does not answer";
  return new JoinError('MemberUnreachable', `${what}: ${error.message}`, error);
}

/** The same for a call of the agent to its own API server. */
export function explainMemberFailure(error: unknown): JoinError | undefined {
  if (error instanceof ClientError) return memberNetworkFailure(error);
  if (error instanceof StatusError && (error.code === 401 || error.code === 403 || error.code === 404)) {
    return new JoinError(
      'MemberForbidden',
      `the agent's own API server refuses it (${error.code}): ${error.message}. Are the agent's manifests applied there, and ` +
        'is its service account the one that it runs as?',
      error,
    );
  }
  return undefined;
}
