import { createHmac, randomBytes } from 'node:crypto';
import { badRequest, type KubeObject, TOKEN_REVIEWS, type TokenReview } from '@asterism/machinery';
import type { TokenUser } from '../contract/authenticator.ts';
import type { Creation } from '../contract/creation.ts';
import { askHost, type HostOptions } from './ask-host.ts';
import { RememberedAnswers } from './remembered-answers.ts';

const GOOD_MS = 10_000;
const BAD_MS = 1_000;

/** Whom a token names for one of `audiences`, or for the host itself where there are none; 'bad' where it names nobody. */
export type ReviewToken = (token: string, audiences: readonly string[]) => Promise<TokenUser | 'bad'>;

/**
 * Asks the host by TokenReview. A good token counts for 10 s, a bad one for 1 s; what is kept is a digest under a key of this
 * process, never the token.
 */
export function createTokenReviewer(host: HostOptions & { monotonic: () => number }): ReviewToken {
  const secret = randomBytes(32);
  const answers = new RememberedAnswers<TokenUser | 'bad'>({
    monotonic: host.monotonic,
    ttlMs: (found) => (found === 'bad' ? BAD_MS : GOOD_MS),
  });
  return (token, audiences) => {
    const key = createHmac('sha256', secret)
      .update(JSON.stringify([token, audiences]))
      .digest('base64');
    return answers.get(key, async () => {
      const spec = { token, ...(audiences.length === 0 ? {} : { audiences: [...audiences] }) };
      return tokenUser(await askHost(host, TOKEN_REVIEWS, { spec }), audiences);
    });
  };
}

/** A host that was asked for audiences and names none of them in its answer did not look at them. */
function tokenUser({ status }: TokenReview, audiences: readonly string[]): TokenUser | 'bad' {
  const { username, uid, groups = [], extra } = status?.user ?? {};
  if (status?.authenticated !== true || !username) return 'bad';
  const named = status.audiences ?? [];
  const common = audiences.length === 0 ? named : named.filter((audience) => audiences.includes(audience));
  if (audiences.length > 0 && common.length === 0) return 'bad';
  const user = { username, groups, ...(uid ? { uid } : {}), ...(extra === undefined ? {} : { extra }) };
  return { user, audiences: common };
}

/** `TokenReview` as this server answers it: with what the host says of the token. */
export function createDelegatedTokenReview(review: ReviewToken): Creation {
  return async ({ object }) => {
    const { kind, apiVersion, metadata = {}, spec } = object as KubeObject & { spec?: TokenReview['spec'] };
    if (!spec?.token) throw badRequest('token is required for TokenReview in authentication');
    const found = await review(spec.token, spec.audiences ?? []);
    const status =
      found === 'bad'
        ? { user: {}, error: 'invalid bearer token' }
        : { authenticated: true, user: found.user, audiences: found.audiences };
    return { kind: kind!, apiVersion: apiVersion!, metadata, spec, status };
  };
}
