/**
 * Why a cluster cannot join, or not stay.
 *
 * - `TokenMissing`: there is no usable credential and no bootstrap token to get one with.
 * - `TokenRefused`: the hub does not take the bootstrap token: wrong, expired or revoked.
 * - `CredentialRefused`: the hub does not take the agent's own certificate any more.
 * - `JoinedAsAnother`: this cluster stands in the hub under another name.
 * - `Denied`: a person or a rule said no; asking again with the same request is of no use.
 * - `RequestRefused`: the hub does not accept the request itself.
 * - `HubUnreachable`, `HubNotTrusted`: nobody answers; somebody else answers.
 * - `ClockOff`: a certificate is not valid by this machine's clock.
 * - `MemberUnreachable`, `MemberForbidden`: the agent's own API server does not answer, or not to this agent.
 * - `MemberNotTrusted`: somebody else answers in its place.
 * - `EndpointMissing`: the hub shall dial a cluster that names no address.
 */
export type JoinErrorCode =
  | 'TokenMissing'
  | 'TokenRefused'
  | 'CredentialRefused'
  | 'JoinedAsAnother'
  | 'Denied'
  | 'RequestRefused'
  | 'HubUnreachable'
  | 'HubNotTrusted'
  | 'ClockOff'
  | 'MemberUnreachable'
  | 'MemberForbidden'
  | 'MemberNotTrusted'
  | 'EndpointMissing';

/** The message says what failed, where, why and what to do; it never holds a token or a key. */
export class JoinError extends Error {
  override readonly name = 'JoinError';
  readonly code: JoinErrorCode;

  constructor(code: JoinErrorCode, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
  }
}
