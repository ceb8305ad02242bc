import type { Decision } from './decision.ts';
import type { DecisionOutcome } from './decision-outcome.ts';

/** A difference that stays, and the reason. */
export interface IntendedDifference {
  name: string;
  because: string;
  fits(decision: Decision, real: DecisionOutcome, own: DecisionOutcome): boolean;
}

const NODE = /-n[12]$/;

/** 1.36 decides, and our server is stricter where a request of 1.20 has no use. Each is as narrow as its reason. */
export const INTENDED_DIFFERENCES: readonly IntendedDifference[] = [
  {
    name: 'a node reads its own Node and its own pods alone',
    because: 'AuthorizeNodeWithSelectors, since 1.32; 1.20 lets a node read all of them',
    fits: ({ user, request: { body, method, path } }, real, own) =>
      (NODE.test(user) || /"user":"system:node:n/.test(JSON.stringify(body) ?? '')) &&
      real.by !== 'authorization' &&
      (own.by === 'authorization' || own.shown === false || (method === 'HEAD' && own.status === 403)) &&
      /"(pods|nodes)"|\/(pods|nodes)(\/| |$)/.test(`${decodeURIComponent(path)} ${JSON.stringify(body)}`),
  },
  {
    name: 'an impersonation without a user name is a bad request',
    because: '1.20 answers 500 with groups or extras, and else acts as the sender, who did not ask for that',
    fits: ({ request: { headers } }, _, own) =>
      headers?.['impersonate-user'] === '' &&
      (own.status === 400 || JSON.stringify(own).includes('the header impersonate-user names no user')),
  },
  {
    name: 'the documents of OpenID have two paths',
    because: 'the default role grants the paths with a slash at their end since 1.30',
    fits: ({ family }, real, own) =>
      family.startsWith('SelfSubjectRulesReview') &&
      JSON.stringify(own.shown).replaceAll(/,\\"\/(openid\/v1\/jwks|\.well-known\/openid-configuration)\/\\"/g, '') ===
        JSON.stringify(real.shown),
  },
  {
    name: 'only GET watches and reads custom resources',
    because: '1.20 takes any method for a watch by the prefix watch/, and HEAD for a read; built-in kinds answer 405',
    fits: ({ request: { method, path } }, real, own) =>
      method !== 'GET' && own.status === 405 && real.status !== 403 && decodeURIComponent(path).includes('/widgets'),
  },
  {
    name: 'a name of a namespaced kind needs its namespace',
    because: '1.20 watches custom resources of one name in all namespaces, and answers 404 for built-in kinds',
    fits: ({ request: { path } }, real, own) =>
      /\/watch\/widgets\/./.test(decodeURIComponent(path)) && own.status === 404 && real.status !== 403,
  },
  {
    name: 'the account of a token is read first',
    because: 'since 1.31 a request for a token of no account is 404 before anything else is checked',
    fits: ({ family }, real, own) =>
      family.startsWith('token') && (real.status === 422 || real.by === 'admission') && own.status === 404,
  },
  {
    name: 'a node does not change the owners of its Node',
    because: 'CVE-2025-5187, since 1.33',
    fits: ({ base, request, user }, real, own) =>
      NODE.test(user) &&
      /ownerReferences/.test(JSON.stringify(base?.change ?? request.body)) &&
      real.status === 200 &&
      own.by === 'admission',
  },
  {
    name: 'a node that binds a pod with a node gets a conflict',
    because: 'the two refusals come in another order',
    fits: ({ family, user }, real, own) =>
      family.startsWith('binding of a pod') && NODE.test(user) && real.by === 'admission' && own.status === 409,
  },
  {
    name: 'the restriction of nodes looks at each object of a deletecollection',
    because: 'admission is asked about each object here, and once without a name upstream',
    fits: ({ family, user }, real, own) =>
      family.startsWith('deletecollection') &&
      NODE.test(user) &&
      (real.by === 'admission' ? own.status === 200 : real.status === 200 && own.by === 'admission'),
  },
  {
    name: 'an empty certificate is no certificate',
    because: '1.20 takes an empty value for a change of none',
    fits: ({ base, family, request }, real, own) =>
      family.startsWith('CSR/status') &&
      /"certificate":""/.test(JSON.stringify(base?.change ?? request.body)) &&
      real.by === 'signer' &&
      own.status === 200,
  },
  {
    name: 'a node binds no pod',
    because: '1.20 restricts nodes in pods/binding, and forgets the resource bindings',
    fits: ({ family, request: { path }, user }, real, own) =>
      family.startsWith('binding of a pod') &&
      NODE.test(user) &&
      path.endsWith('/bindings') &&
      real.status === 201 &&
      own.by === 'admission',
  },
];
