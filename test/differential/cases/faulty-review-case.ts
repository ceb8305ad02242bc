import type { DifferentialCase, RequestStep } from '../differential-case.ts';
import type { Fields } from '../objects/generated-kind.ts';
import { ask, combinationsOf } from './as-user.ts';
import { caseName } from './requests.ts';

const REVIEWS = '/apis/authorization.k8s.io/v1';

/** Reviews of access that cannot be, and what is just at the edge of it. */
export function faultyReviewCase(seed: number): DifferentialCase {
  const name = caseName('access', 'faulty-reviews', seed);
  const resourceAttributes = { namespace: name, verb: 'get', resource: 'pods' };
  const nonResourceAttributes = { path: '/x', verb: 'get' };
  const review = (kind: string, spec: Fields, more: Fields = {}): Fields => ({
    apiVersion: 'authorization.k8s.io/v1',
    kind,
    spec,
    ...more,
  });
  const local = (object: Fields): RequestStep =>
    ask('POST', `${REVIEWS}/namespaces/${name}/localsubjectaccessreviews`, object);
  const whole = (spec: Fields, more?: Fields): RequestStep =>
    ask('POST', `${REVIEWS}/subjectaccessreviews`, review('SubjectAccessReview', spec, more));
  const self = (spec: Fields, user: string): RequestStep =>
    ask('POST', `${REVIEWS}/selfsubjectaccessreviews`, review('SelfSubjectAccessReview', spec), { user });
  return {
    name,
    subject: 'access',
    combinations: [
      ...combinationsOf('SubjectAccessReview', [
        'of nobody',
        'of both kinds',
        'of no kind',
        'with a name',
        'of a group alone',
        'of an administrator',
        'without the right',
        'read',
      ]),
      ...combinationsOf('LocalSubjectAccessReview', ['of another namespace', 'of a path']),
      ...combinationsOf('SelfSubjectAccessReview', ['allowed', 'not allowed', 'of both kinds', 'anonymous']),
    ],
    steps: [
      whole({ resourceAttributes }),
      whole({ user: 'x', resourceAttributes, nonResourceAttributes }),
      whole({ user: 'x' }),
      whole({ user: 'x', resourceAttributes }, { metadata: { name: 'named' } }),
      whole({ groups: ['system:masters'], resourceAttributes }),
      whole({ user: 'admin', groups: ['system:masters'], nonResourceAttributes }),
      ask('POST', `${REVIEWS}/subjectaccessreviews`, review('SubjectAccessReview', { user: 'x', resourceAttributes }), {
        user: 'alice',
      }),
      ask('GET', `${REVIEWS}/subjectaccessreviews`),
      local(
        review('LocalSubjectAccessReview', {
          user: 'x',
          resourceAttributes: { ...resourceAttributes, namespace: 'default' },
        }),
      ),
      {
        ...local(review('LocalSubjectAccessReview', { user: 'x', resourceAttributes })),
        since: {
          because: "the namespace of the request is the review's own since 1.22",
          status: 201,
          body: { status: { allowed: false } },
        },
      },
      local(review('LocalSubjectAccessReview', { user: 'x', resourceAttributes }, { metadata: { namespace: name } })),
      local(review('LocalSubjectAccessReview', { user: 'x', nonResourceAttributes })),
      self({ resourceAttributes }, 'admin'),
      self({ resourceAttributes }, 'alice'),
      self({ nonResourceAttributes }, 'alice'),
      self({ nonResourceAttributes: { path: '/api', verb: 'get' } }, 'alice'),
      self({ resourceAttributes, nonResourceAttributes }, 'alice'),
      self({}, 'alice'),
      self({ resourceAttributes }, 'anonymous'),
    ],
  };
}
