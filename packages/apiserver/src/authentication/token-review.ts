import { badRequest, formatTime, type KubeObject } from '@asterism/machinery';
import type { Creation } from '../contract/creation.ts';
import { authenticateToken } from './authenticator.ts';
import type { TokenAuthenticator } from '../contract/authenticator.ts';

/** `TokenReview`: whom a token names, asked by those who were shown one. */
export function createTokenReview(options: {
  tokens: readonly TokenAuthenticator[];
  audiences: readonly string[];
  /** What is to be told of a token that is no good. */
  whyRefused?: ((token: string, audiences: readonly string[]) => Promise<string | undefined>) | undefined;
}): Creation {
  return async ({ object }) => {
    const spec = (object.spec ?? {}) as { token?: string; audiences?: string[] };
    if (!spec.token) throw badRequest('token is required for TokenReview in authentication');
    const wanted = spec.audiences && spec.audiences.length > 0 ? spec.audiences : options.audiences;
    const found = await authenticateToken(options.tokens, spec.token, wanted);
    const status =
      found === undefined
        ? { user: {}, error: describeRefusal(await options.whyRefused?.(spec.token, wanted)) }
        : { authenticated: true, user: found.user, audiences: found.audiences };
    return { ...withoutStatus(object), status };
  };
}

function describeRefusal(why: string | undefined): string {
  return why === undefined ? 'invalid bearer token' : `[invalid bearer token, ${why}]`;
}

/** `SelfSubjectReview`: who the server takes the caller for. */
export function createSelfSubjectReview(clock: () => number): Creation {
  return ({ object, user }) => {
    const creationTimestamp = formatTime(clock());
    const metadata = { ...object.metadata, creationTimestamp };
    return Promise.resolve({ ...withoutStatus(object), metadata, status: { userInfo: user } });
  };
}

function withoutStatus({ kind, apiVersion, metadata, spec }: KubeObject): KubeObject {
  return { kind: kind!, apiVersion: apiVersion!, metadata: metadata ?? {}, ...(spec === undefined ? {} : { spec }) };
}
