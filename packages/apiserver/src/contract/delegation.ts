import type { Creation } from './creation.ts';
import type { RequestAuthenticator } from './authenticator.ts';
import type { Authorizer } from './authorizer.ts';

/**
 * Who callers are and what they may do, asked of another Kubernetes API server (the "host"). Several servers may share one.
 *
 * Nothing is allowed because the host is away: a question that it does not answer is an error (500 or 503).
 */
export interface Delegation extends AsyncDisposable {
  /** PEM of every authority of client certificates that count now: the host's own and its front proxy's. May be ''. */
  readonly clientCa: string;
  /** Calls back after {@link clientCa} has changed. Returns what ends it. */
  onChange(listener: () => void): () => void;
  /** The front proxy's word, then client certificates, then bearer tokens, then `system:anonymous` where that is let in. */
  authenticator(options: { anonymous: boolean }): RequestAuthenticator;
  /** Whether a header of that name (in lower case) says who the caller is, in the words of the host's front proxy. */
  isIdentityHeader(name: string): boolean;
  /** Asks by SubjectAccessReview; members of `system:masters` may do everything, and anybody see the health paths. */
  readonly authorizer: Authorizer;
  /** Answers a `TokenReview` that was posted to this server with what the host says. */
  readonly tokenReview: Creation;
}
