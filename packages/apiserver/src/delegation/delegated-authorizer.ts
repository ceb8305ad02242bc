import { SUBJECT_ACCESS_REVIEWS, type SubjectAccessReview } from '@asterism/machinery';
import { SYSTEM_MASTERS } from '../contract/user-info.ts';
import type { AuthorizationAttributes, AuthorizationDecision, Authorizer } from '../contract/authorizer.ts';
import { askHost, type HostOptions } from './ask-host.ts';
import { RememberedAnswers } from './remembered-answers.ts';

const ALLOWED_MS = 10_000;
const DENIED_MS = 1_000;
/** Whoever watches over a process may ask it how it is while the host is away (upstream's always-allow-paths). */
const HEALTH_PATHS = new Set(['/healthz', '/livez', '/readyz']);
const ALLOWED: AuthorizationDecision = { allowed: true, reason: '' };

/**
 * Asks the host by SubjectAccessReview. An answer counts for 10 s, a refusal for 1 s; it is kept by all that was asked: user,
 * uid, groups, extra and every attribute.
 */
export function createDelegatedAuthorizer(host: HostOptions & { monotonic: () => number }): Authorizer {
  const answers = new RememberedAnswers<AuthorizationDecision>({
    monotonic: host.monotonic,
    ttlMs: ({ allowed }) => (allowed ? ALLOWED_MS : DENIED_MS),
  });
  return {
    authorize: (attributes) => {
      if (attributes.user.groups.includes(SYSTEM_MASTERS)) return ALLOWED;
      if (attributes.resource === undefined && HEALTH_PATHS.has(attributes.path ?? '')) return ALLOWED;
      const spec = specOf(attributes);
      return answers.get(JSON.stringify(spec), async () => {
        const review = await askHost(host, SUBJECT_ACCESS_REVIEWS, { spec });
        return decisionOf(review);
      });
    },
  };
}

function specOf(attributes: AuthorizationAttributes): SubjectAccessReview['spec'] {
  const { user, verb, path = '', resource, ...about } = attributes;
  const { group = '', version = '', subresource = '', namespace = '', name = '' } = about;
  return {
    user: user.username,
    groups: user.groups,
    ...(user.uid === undefined ? {} : { uid: user.uid }),
    ...(user.extra === undefined ? {} : { extra: user.extra }),
    ...(resource === undefined
      ? { nonResourceAttributes: { path, verb } }
      : { resourceAttributes: { verb, group, version, resource, subresource, namespace, name } }),
  };
}

/** Only a plain `allowed: true` lets anybody in. */
function decisionOf({ status }: SubjectAccessReview): AuthorizationDecision {
  const allowed = status?.allowed === true && status.denied !== true;
  return { allowed, reason: status?.reason ?? '' };
}
