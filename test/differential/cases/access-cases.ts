import { Choices } from '../choices.ts';
import type { DifferentialCase, RequestStep } from '../differential-case.ts';
import type { Fields } from '../objects/generated-kind.ts';
import {
  ask,
  binding,
  clusterBinding,
  inNamespace,
  RBAC,
  role,
  rule,
  untilAllowed,
  userSubject,
  combinationsOf,
} from './as-user.ts';
import { faultyReviewCase } from './faulty-review-case.ts';
import { caseName } from './requests.ts';

const REVIEWS = '/apis/authorization.k8s.io/v1';
const GROUPS = ['', 'apps', 'batch', '*', 'example.com'];
const RESOURCES = ['pods', 'secrets', 'pods/log', '*/scale', 'deployments', '*', 'things'];
const VERBS = ['get', 'list', 'watch', 'create', 'delete', '*', 'impersonate', 'bind'];

/** Who may do what, and who may say so. */
export function accessCases(seed: number): DifferentialCase[] {
  return [
    escalationCase(seed),
    bindingCase(seed),
    questionCase(seed),
    urlCase(seed),
    faultyReviewCase(seed),
    rulesCase(seed),
  ];
}

function begin(what: string, seed: number): { name: string; choices: Choices } {
  const name = caseName('access', what, seed);
  return { name, choices: new Choices(seed, name) };
}

/** Nobody gives by a role what he has not. */
function escalationCase(seed: number): DifferentialCase {
  const { name, choices } = begin('escalation', seed);
  const roles = inNamespace(name, 'roles');
  const alice = { user: 'alice' };
  const held = rule([''], ['pods'], choices.shuffled(['get', 'list']));
  const make = (which: string, rules: readonly Fields[]): RequestStep => ask('POST', roles, role(which, rules), alice);
  const more = rule(
    [''],
    choices.pick([['secrets'], ['pods', 'secrets'], ['*']]),
    choices.pick([['get'], ['*'], ['get', 'delete']]),
  );
  return {
    name,
    subject: 'access',
    combinations: combinationsOf('escalate Role', [
      'what is held',
      'part of what is held',
      'another resource',
      'every verb',
      'every group',
      'by names',
      'several rules',
      'update to more',
      'patch to more',
      'update of labels alone',
      'ClusterRole',
      'with the verb escalate',
      'dry run',
    ]),
    steps: [
      ask(
        'POST',
        roles,
        role('giver', [
          rule(
            ['rbac.authorization.k8s.io'],
            ['roles', 'rolebindings'],
            ['get', 'create', 'update', 'patch', 'delete'],
          ),
          held,
        ]),
      ),
      ask('POST', inNamespace(name, 'rolebindings'), binding('Role', 'giver', [userSubject('alice')])),
      untilAllowed(
        { user: 'alice' },
        { namespace: name, group: 'rbac.authorization.k8s.io', resource: 'roles', verb: 'create' },
      ),
      make('same', [held]),
      make('part', [rule([''], ['pods'], ['get'])]),
      make('other', [more]),
      make('verbs', [rule([''], ['pods'], ['*'])]),
      make('groups', [rule(['*'], ['pods'], ['get'])]),
      make('named', [rule([''], ['pods'], ['get'], { resourceNames: ['one'] })]),
      make('named-other', [rule([''], ['secrets'], ['get'], { resourceNames: ['one', 'two'] })]),
      make('several', [rule([''], ['pods', 'configmaps'], ['get', 'list']), rule(['apps'], ['deployments'], ['get'])]),
      make('dry', [more]),
      ask('POST', roles, role('rehearsed', [more]), { ...alice, query: { dryRun: 'All' } }),
      ask('PUT', `${roles}/same`, role('same', [held, more]), alice),
      ask(
        'PATCH',
        `${roles}/same`,
        { rules: [more] },
        { ...alice, headers: { 'Content-Type': 'application/merge-patch+json' } },
      ),
      ask('PUT', `${roles}/same`, { ...role('same', [held]), metadata: { name: 'same', labels: { a: 'b' } } }, alice),
      ask('POST', `${RBAC}/clusterroles`, role(name, [held], 'ClusterRole'), alice),
      ask('POST', roles, role('escalator', [rule(['rbac.authorization.k8s.io'], ['roles'], ['escalate'])])),
      ask('POST', inNamespace(name, 'rolebindings'), binding('Role', 'escalator', [userSubject('alice')])),
      untilAllowed(
        { user: 'alice' },
        { namespace: name, group: 'rbac.authorization.k8s.io', resource: 'roles', verb: 'escalate' },
      ),
      make('escalated', [more]),
      ask('GET', roles),
    ],
  };
}

/** Nobody binds a role that is more than his own. */
function bindingCase(seed: number): DifferentialCase {
  const { name, choices } = begin('binding', seed);
  const bindings = inNamespace(name, 'rolebindings');
  const roles = inNamespace(name, 'roles');
  const alice = { user: 'alice' };
  const bob = [userSubject('bob')];
  const bound = choices.pick(['view', 'edit', 'admin']);
  const bind = (to: Fields): RequestStep => ask('POST', bindings, to, alice);
  return {
    name,
    subject: 'access',
    combinations: combinationsOf('bind', [
      'Role that is held',
      'Role that is not',
      'ClusterRole',
      'Role that is absent',
      'with the verb bind',
      'bind by name',
      'other subjects',
      'ClusterRoleBinding',
      'role cannot be changed',
      'service account as subject',
      'group as subject',
    ]),
    steps: [
      ask(
        'POST',
        roles,
        role('binder', [
          rule(['rbac.authorization.k8s.io'], ['rolebindings'], ['create', 'update', 'delete']),
          rule([''], ['pods'], ['get']),
        ]),
      ),
      ask('POST', roles, role('light', [rule([''], ['pods'], ['get'])])),
      ask('POST', roles, role('heavy', [rule([''], ['secrets'], ['get'])])),
      ask('POST', bindings, binding('Role', 'binder', [userSubject('alice')])),
      untilAllowed(
        { user: 'alice' },
        { namespace: name, group: 'rbac.authorization.k8s.io', resource: 'rolebindings', verb: 'create' },
      ),
      bind(binding('Role', 'light', bob)),
      bind(binding('Role', 'heavy', bob)),
      bind(binding('ClusterRole', bound, bob)),
      bind(binding('Role', 'absent', bob)),
      ask(
        'PUT',
        `${bindings}/light`,
        binding('Role', 'light', [...bob, { kind: 'ServiceAccount', name: 'sa', namespace: name }]),
        alice,
      ),
      ask('PUT', `${bindings}/light`, binding('Role', 'heavy', bob, 'light'), alice),
      ask('POST', `${RBAC}/clusterrolebindings`, clusterBinding(name, 'view', bob), alice),
      ask(
        'POST',
        roles,
        role('named', [rule(['rbac.authorization.k8s.io'], ['clusterroles'], ['bind'], { resourceNames: [bound] })]),
      ),
      ask('POST', bindings, binding('Role', 'named', [userSubject('alice')])),
      untilAllowed(
        { user: 'alice' },
        { namespace: name, group: 'rbac.authorization.k8s.io', resource: 'clusterroles', verb: 'bind', name: bound },
      ),
      bind(binding('ClusterRole', bound, [{ kind: 'Group', name: 'others', apiGroup: 'rbac.authorization.k8s.io' }])),
      bind(binding('ClusterRole', 'cluster-admin', bob)),
      untilAllowed({ user: 'bob' }, { namespace: name, resource: 'pods', verb: 'get' }),
      ask('GET', `/api/v1/namespaces/${name}/pods/none`, undefined, { user: 'bob' }),
      ask('GET', `/api/v1/namespaces/${name}/pods/none`, undefined, { user: 'alice' }),
      ask('GET', `/api/v1/namespaces/${name}/secrets/none`, undefined, { user: 'alice' }),
      ask('DELETE', `${bindings}/binder`),
      {
        until: {
          request: { method: 'GET', path: `/api/v1/namespaces/${name}/pods/none`, user: 'alice' },
          status: 403,
        },
      },
    ],
  };
}

/** Random roles, and random questions of who may do what by them. */
function questionCase(seed: number): DifferentialCase {
  const { name, choices } = begin('questions', seed);
  const some = (from: readonly string[]): string[] => {
    const chosen = choices.some(from);
    return chosen.length > 0 ? chosen : [choices.pick(from)];
  };
  const randomRule = (): Fields =>
    rule(
      some(GROUPS),
      some(RESOURCES),
      some(VERBS),
      choices.maybe(() => ({ resourceNames: ['one', 'two'] }), 0.3),
    );
  const marker = (resource: string): Fields => rule(['marker'], [resource], ['get']);
  const subject = choices.pick<Fields>([
    userSubject('carol'),
    { kind: 'Group', name: 'singers', apiGroup: 'rbac.authorization.k8s.io' },
  ]);
  const attributes = (): Fields => {
    const [resource = '', subresource] = choices.pick(RESOURCES).split('/');
    return {
      namespace: choices.pick([name, name, '', 'default']),
      group: choices.pick(GROUPS),
      resource,
      verb: choices.pick(VERBS),
      ...(subresource === undefined ? {} : { subresource }),
      ...choices.maybe(() => ({ name: choices.pick(['one', 'three']) })),
    };
  };
  const who = { user: 'carol', groups: ['singers', 'system:authenticated'] };
  const kindOf = { apiVersion: 'authorization.k8s.io/v1' };
  const questions = Array.from({ length: 24 }, (): RequestStep => {
    const resourceAttributes = attributes();
    const spec = { ...who, resourceAttributes };
    if (resourceAttributes['namespace'] !== name || choices.chance(0.5)) {
      return ask('POST', `${REVIEWS}/subjectaccessreviews`, { ...kindOf, kind: 'SubjectAccessReview', spec });
    }
    const path = `${REVIEWS}/namespaces/${name}/localsubjectaccessreviews`;
    return ask('POST', path, { ...kindOf, kind: 'LocalSubjectAccessReview', metadata: { namespace: name }, spec });
  });
  return {
    name,
    subject: 'access',
    combinations: [
      ...combinationsOf('SubjectAccessReview', [
        'by user',
        'by group',
        'wildcards',
        'names',
        'subresources',
        'cluster-wide',
        'other namespace',
      ]),
      ...combinationsOf('LocalSubjectAccessReview', ['by user', 'names']),
    ],
    steps: [
      ask('POST', inNamespace(name, 'roles'), role('mixed', [randomRule(), randomRule(), marker('here')])),
      ask('POST', inNamespace(name, 'rolebindings'), binding('Role', 'mixed', [subject])),
      ask('POST', `${RBAC}/clusterroles`, role(name, [randomRule(), marker('there')], 'ClusterRole')),
      ask('POST', inNamespace(name, 'rolebindings'), binding('ClusterRole', name, [subject])),
      ...['here', 'there'].map((resource) =>
        untilAllowed(who, { namespace: name, group: 'marker', resource, verb: 'get' }),
      ),
      ...questions,
    ],
  };
}

/** Paths that are no resources. */
function urlCase(seed: number): DifferentialCase {
  const { name } = begin('urls', seed);
  const urls = (nonResourceURLs: readonly string[]): Fields => ({ nonResourceURLs, verbs: ['get'] });
  const question = (path: string, verb: string): RequestStep =>
    ask('POST', `${REVIEWS}/subjectaccessreviews`, {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SubjectAccessReview',
      spec: { user: `dave-${seed}`, nonResourceAttributes: { path, verb } },
    });
  return {
    name,
    subject: 'access',
    combinations: combinationsOf('non-resource URL', [
      'equal',
      'prefix',
      'other verb',
      'not granted',
      'root',
      'asked for',
    ]),
    steps: [
      ask('POST', `${RBAC}/clusterroles`, role(name, [urls(['/metrics', '/logs/*'])], 'ClusterRole')),
      ask('POST', `${RBAC}/clusterrolebindings`, clusterBinding(name, name, [userSubject(`dave-${seed}`)])),
      untilAllowed({ user: `dave-${seed}` }, { path: '/metrics', verb: 'get' }),
      question('/metrics', 'get'),
      question('/metrics', 'post'),
      question('/metrics/more', 'get'),
      question('/logs', 'get'),
      question('/logs/', 'get'),
      question('/logs/a/b', 'get'),
      question('/', 'get'),
      question('/healthz', 'get'),
      ask('GET', '/metrics', undefined, { user: 'bob' }),
      ask('GET', '/nowhere', undefined, { user: 'bob' }),
      ask('GET', '/nowhere', undefined, { user: 'anonymous' }),
      ask('GET', '/version', undefined, { user: 'anonymous' }),
      ask('GET', '/api', undefined, { user: 'anonymous' }),
    ],
  };
}

function rulesCase(seed: number): DifferentialCase {
  const { name, choices } = begin('rules', seed);
  // Whom no case of another seed gives a right for the whole cluster.
  const granted = `frank-${seed}`;
  const review = (namespace: string | undefined, user: string): RequestStep =>
    ask(
      'POST',
      `${REVIEWS}/selfsubjectrulesreviews`,
      { apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectRulesReview', spec: { namespace } },
      user === 'admin' ? {} : { headers: { 'Impersonate-User': user } },
    );
  const rules = choices.shuffled([
    rule([''], ['pods'], ['get', 'list']),
    rule(['apps'], ['deployments'], ['*'], { resourceNames: ['web'] }),
    rule(['*'], ['*'], ['watch']),
  ]);
  return {
    name,
    subject: 'access',
    combinations: combinationsOf('SelfSubjectRulesReview', [
      'granted',
      'not granted',
      'administrator',
      'no namespace',
      'another namespace',
    ]),
    steps: [
      ask('POST', inNamespace(name, 'roles'), role('mixed', rules)),
      ask('POST', inNamespace(name, 'rolebindings'), binding('Role', 'mixed', [userSubject(granted)])),
      untilAllowed({ user: granted }, { namespace: name, resource: 'pods', verb: 'list' }),
      review(name, granted),
      review(name, `other-${seed}`),
      review(name, 'admin'),
      review(undefined, granted),
    ],
  };
}
