import { Choices } from '../choices.ts';
import type { DifferentialCase, DifferentialStep, RequestStep } from '../differential-case.ts';
import type { Fields } from '../objects/generated-kind.ts';
import {
  ask,
  binding,
  clusterBinding,
  inNamespace,
  RBAC,
  role,
  rule,
  since,
  untilAllowed,
  userSubject,
  combinationsOf,
} from './as-user.ts';
import { caseName } from './requests.ts';

const TOKEN_REVIEWS = '/apis/authentication.k8s.io/v1/tokenreviews';
const AUDIENCE = 'https://kubernetes.default.svc';

/** Who somebody is: other names, service accounts, bootstrap tokens. */
export function identityCases(seed: number): DifferentialCase[] {
  return [impersonationCase(seed), accountCase(seed), reviewCase(seed), bootstrapCase(seed)];
}

function impersonationCase(seed: number): DifferentialCase {
  const name = caseName('access', 'impersonation', seed);
  const pods = `/api/v1/namespaces/${name}/pods`;
  const as = (headers: Record<string, string | string[]>, user = 'admin', path = pods): RequestStep =>
    ask('GET', path, undefined, { headers, user });
  const one = { 'Impersonate-User': 'eve' };
  const nameless = { because: 'it was 500 before 1.36', status: 400, body: { reason: 'BadRequest' } };
  const because = 'since 1.36 refusals are told in the words of constrained impersonation';
  return {
    name,
    subject: 'access',
    combinations: combinationsOf('impersonate', [
      'user',
      'group that may',
      'group that may not',
      'groups without a user',
      'service account',
      'service account of nowhere',
      'extra',
      'anonymous',
      'system:masters',
      'with the right',
      'another name than the right',
      'group with the right',
      'group without the right',
      'nobody with the right',
    ]),
    steps: [
      ask('POST', inNamespace(name, 'roles'), role('readers', [rule([''], ['pods'], ['list'])])),
      ask(
        'POST',
        inNamespace(name, 'rolebindings'),
        binding('Role', 'readers', [
          { kind: 'Group', name: `readers-${seed}`, apiGroup: 'rbac.authorization.k8s.io' },
          { kind: 'ServiceAccount', name: 'robot', namespace: name },
        ]),
      ),
      untilAllowed({ groups: [`readers-${seed}`] }, { namespace: name, resource: 'pods', verb: 'list' }),
      as(one),
      as({ ...one, 'Impersonate-Group': `readers-${seed}` }),
      as({ ...one, 'Impersonate-Group': ['x', `readers-${seed}`] }),
      as({ ...one, 'Impersonate-Group': 'x' }),
      since(as({ 'Impersonate-Group': `readers-${seed}` }), nameless),
      since(as({ 'Impersonate-Extra-scopes': 'x' }), nameless),
      as({ 'Impersonate-User': `system:serviceaccount:${name}:robot` }),
      as({ 'Impersonate-User': 'system:serviceaccount:nowhere:robot' }),
      as({ 'Impersonate-User': `system:serviceaccount:${name}:robot`, 'Impersonate-Group': 'x' }),
      as({ ...one, 'Impersonate-Extra-scopes': 'some' }),
      as({ 'Impersonate-User': 'system:anonymous' }),
      as({ ...one, 'Impersonate-Group': 'system:masters' }),
      since(as(one, 'bob'), { because, status: 403 }),
      since(as({ ...one, 'Impersonate-Group': 'system:masters' }, 'bob'), { because, status: 403 }),
      ask(
        'POST',
        `${RBAC}/clusterroles`,
        role(
          name,
          [
            rule([''], ['users'], ['impersonate'], { resourceNames: ['eve'] }),
            rule([''], ['groups'], ['impersonate'], { resourceNames: [`readers-${seed}`] }),
          ],
          'ClusterRole',
        ),
      ),
      ask('POST', `${RBAC}/clusterrolebindings`, clusterBinding(name, name, [userSubject('alice')])),
      untilAllowed({ user: 'alice' }, { resource: 'groups', verb: 'impersonate', name: `readers-${seed}` }),
      as(one, 'alice'),
      as({ ...one, 'Impersonate-Group': `readers-${seed}` }, 'alice'),
      since(as({ ...one, 'Impersonate-Group': 'system:masters' }, 'alice'), { because, status: 403 }),
      since(as({ 'Impersonate-User': 'admin' }, 'alice'), { because, status: 403 }),
      since(as({ 'Impersonate-User': `system:serviceaccount:${name}:robot` }, 'alice'), { because, status: 403 }),
      since(as({ ...one, 'Impersonate-Extra-scopes': 'some' }, 'alice'), { because, status: 403 }),
    ],
  };
}

/** Tokens of a service account, for how long and for whom; what they are bound to. */
function accountCase(seed: number): DifferentialCase {
  const name = caseName('access', 'accounts', seed);
  const choices = new Choices(seed, name);
  const accounts = `/api/v1/namespaces/${name}/serviceaccounts`;
  const pods = `/api/v1/namespaces/${name}/pods`;
  const tokenFor = (account: string, spec: Fields, more: Fields = {}): RequestStep =>
    ask('POST', `${accounts}/${account}/token`, {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      spec,
      ...more,
    });
  const withToken = (step: number, path = pods): RequestStep =>
    ask('GET', path, undefined, { headers: { authorization: `Bearer {{steps.${step}.body.status.token}}` } });
  const bound = (more: Fields): Fields => ({
    audiences: [AUDIENCE],
    boundObjectRef: { kind: 'Pod', apiVersion: 'v1', name: 'held', ...more },
  });
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'held' },
    spec: { serviceAccountName: 'robot', containers: [{ name: 'c', image: 'x' }] },
  };
  return {
    name,
    subject: 'access',
    combinations: combinationsOf('TokenRequest', [
      'defaults',
      'other audience',
      'too short',
      'too long',
      'bound to a pod',
      'bound to an absent pod',
      'bound by another uid',
      'bound to another kind',
      'of an absent account',
      'without the right',
      'another name',
      'account deleted',
      'pod deleted',
      'used',
    ]),
    steps: [
      ask('POST', accounts, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'robot' } }),
      tokenFor('robot', { audiences: [AUDIENCE], expirationSeconds: choices.int(600, 4_000) }),
      withToken(1),
      ask('POST', inNamespace(name, 'roles'), role('readers', [rule([''], ['pods'], ['list'])])),
      ask(
        'POST',
        inNamespace(name, 'rolebindings'),
        binding('Role', 'readers', [{ kind: 'ServiceAccount', name: 'robot', namespace: name }]),
      ),
      { until: { ...withToken(1), status: 200 } },
      withToken(1, `/api/v1/namespaces/${name}/secrets`),
      tokenFor('robot', { audiences: ['somebody-else'] }),
      withToken(7),
      tokenFor('robot', { audiences: [AUDIENCE], expirationSeconds: 599 }),
      tokenFor('robot', { audiences: [AUDIENCE], expirationSeconds: 2 ** 32 + 1 }),
      tokenFor('robot', bound({})),
      ask('POST', pods, pod),
      tokenFor('robot', bound({})),
      withToken(13),
      tokenFor('robot', bound({ uid: '00000000-0000-4000-8000-000000000000' })),
      tokenFor('robot', bound({ uid: '{{steps.12.body.metadata.uid}}' })),
      tokenFor('robot', bound({ kind: 'ConfigMap' })),
      tokenFor('robot', bound({ kind: 'Secret' })),
      tokenFor('absent', { audiences: [AUDIENCE] }),
      tokenFor('robot', { audiences: [AUDIENCE] }, { metadata: { name: 'other', namespace: name } }),
      ask(
        'POST',
        `${accounts}/robot/token`,
        { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { audiences: [AUDIENCE] } },
        { user: 'alice' },
      ),
      ask('DELETE', `${pods}/held`, { gracePeriodSeconds: 0 }),
      withToken(1),
      ask('DELETE', `${accounts}/robot`),
      ask('POST', accounts, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'robot' } }),
    ],
  };
}

function reviewCase(seed: number): DifferentialCase {
  const name = caseName('access', 'token-reviews', seed);
  const accounts = `/api/v1/namespaces/${name}/serviceaccounts`;
  const review = (token: string, more: Fields = {}, user = 'admin'): RequestStep =>
    ask(
      'POST',
      TOKEN_REVIEWS,
      { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec: { token, ...more } },
      { user },
    );
  const tokenFor = (audiences: readonly string[]): RequestStep =>
    ask('POST', `${accounts}/robot/token`, {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      spec: { audiences },
    });
  return {
    name,
    subject: 'access',
    combinations: combinationsOf('TokenReview', [
      'of a user',
      'of an administrator',
      'of a service account',
      'other audience',
      'asked audience',
      'nonsense',
      'empty',
      'without the right',
      'changed signature',
      'named',
    ]),
    steps: [
      ask('POST', accounts, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'robot' } }),
      tokenFor([AUDIENCE]),
      tokenFor(['somebody-else']),
      review('alice-token'),
      review('admin-token'),
      review('{{steps.1.body.status.token}}'),
      review('{{steps.1.body.status.token}}', { audiences: [AUDIENCE, 'x'] }),
      review('{{steps.1.body.status.token}}', { audiences: ['x'] }),
      review('{{steps.2.body.status.token}}'),
      review('{{steps.2.body.status.token}}', { audiences: ['somebody-else'] }),
      review('nonsense'),
      review(''),
      review('{{steps.1.body.status.token}}x'),
      review('a.b.c'),
      review('alice-token', {}, 'bob'),
      ask('POST', TOKEN_REVIEWS, {
        apiVersion: 'authentication.k8s.io/v1',
        kind: 'TokenReview',
        metadata: { name: 'x' },
        spec: { token: 'bob-token' },
      }),
      ask('GET', TOKEN_REVIEWS),
    ],
  };
}

function bootstrapCase(seed: number): DifferentialCase {
  const name = caseName('access', 'bootstrap', seed);
  const choices = new Choices(seed, name);
  const secrets = '/api/v1/namespaces/kube-system/secrets';
  const letters = (count: number): string =>
    Array.from({ length: count }, () => choices.int(0, 35).toString(36)).join('');
  const steps: DifferentialStep[] = [];
  const attempt = (
    stringData: Record<string, string>,
    { type = 'bootstrap.kubernetes.io/token', prefix = 'bootstrap-token-', wrong = false, good = false } = {},
  ): void => {
    const [id, secret] = [letters(6), letters(16)];
    const data = { 'token-id': id, 'token-secret': secret, 'usage-bootstrap-authentication': 'true', ...stringData };
    const metadata = { name: `${prefix}${id}` };
    steps.push(ask('POST', secrets, { apiVersion: 'v1', kind: 'Secret', metadata, type, stringData: data }));
    const token = `${id}.${wrong ? letters(16) : secret}`;
    const used = ask('GET', `/api/v1/namespaces/${name}/pods`, undefined, {
      headers: { authorization: `Bearer ${token}` },
    });
    // The real server hears of Secrets by a watch of its own.
    if (good) steps.push({ until: { ...used, status: 403 } });
    steps.push(used);
  };
  attempt({}, { good: true });
  attempt({ 'usage-bootstrap-authentication': 'false' });
  attempt({ expiration: '2001-01-01T00:00:00Z' });
  attempt({ expiration: '2101-01-01T00:00:00Z' }, { good: true });
  attempt({ expiration: 'soon' });
  attempt({ 'auth-extra-groups': 'system:bootstrappers:here,system:bootstrappers:there' }, { good: true });
  attempt({ 'auth-extra-groups': 'system:masters' });
  attempt({ 'token-id': 'abcdef' });
  attempt({}, { type: 'Opaque' });
  attempt({}, { prefix: 'bootstrap-' });
  attempt({}, { wrong: true });
  return {
    name,
    subject: 'access',
    combinations: combinationsOf('bootstrap token', [
      'good',
      'not for authentication',
      'expired',
      'not yet expired',
      'bad time',
      'groups',
      'group not allowed',
      'other id',
      'other type',
      'other name',
      'wrong secret',
    ]),
    steps,
  };
}
