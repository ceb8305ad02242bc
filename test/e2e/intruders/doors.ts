import type { Question } from './ask.ts';
import { MINE, VAULT } from './furnish.ts';
import type { Identity } from './identities.ts';

/** Something that must not work, whoever tries. */
export interface Door extends Question {
  name: string;
  /** Default 403 Forbidden. */
  expect?: (identity: Identity) => [code: number, reason: string | undefined];
  /** What a refusal of insiders says, who are let in to this very place: it is for a deeper reason. */
  insidersAreTold?: RegExp;
  /** Kinds of identities that upstream lets in here too. */
  openFor?: readonly string[];
}

const SECRETS = `/api/v1/namespaces/${VAULT}/secrets`;
const RBAC = '/apis/rbac.authorization.k8s.io/v1';
const API_GROUP = 'rbac.authorization.k8s.io';

/** Another namespace's Secrets, by every way that there is to them. */
export const SECRET_DOORS: Door[] = [
  { name: 'get', path: `${SECRETS}/treasure` },
  { name: 'head', method: 'HEAD', path: `${SECRETS}/treasure`, expect: () => [403, undefined] },
  { name: 'list', path: SECRETS },
  { name: 'list everywhere', path: '/api/v1/secrets' },
  { name: 'list everywhere by a field', path: `/api/v1/secrets?fieldSelector=metadata.namespace%3D${VAULT}` },
  { name: 'list by a field that names it', path: `${SECRETS}?fieldSelector=metadata.name%3Dtreasure` },
  { name: 'list by a field that names an own one', path: `${SECRETS}?fieldSelector=metadata.name%3Down` },
  { name: 'list by a label', path: `/api/v1/secrets?labelSelector=%21nothing&limit=1` },
  { name: 'watch', path: `${SECRETS}?watch=1&timeoutSeconds=1` },
  {
    name: 'watch with initial events',
    path: `${SECRETS}?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&timeoutSeconds=1`,
  },
  { name: 'watch by the path of old', path: `/api/v1/watch/namespaces/${VAULT}/secrets/treasure?timeoutSeconds=1` },
  { name: 'watch everywhere', path: '/api/v1/secrets?watch=true&timeoutSeconds=1' },
  { name: 'as a Table', path: SECRETS, headers: { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' } },
  {
    name: 'as metadata',
    path: SECRETS,
    headers: { accept: 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io' },
  },
  { name: 'a subresource that there is not', path: `${SECRETS}/treasure/status` },
  { name: 'create beside it', method: 'POST', path: SECRETS, body: { metadata: { name: 'x' } } },
  { name: 'try a creation', method: 'POST', path: `${SECRETS}?dryRun=All`, body: { metadata: { name: 'treasure' } } },
  { name: 'replace', method: 'PUT', path: `${SECRETS}/treasure`, body: { metadata: { name: 'treasure' } } },
  {
    name: 'merge',
    method: 'PATCH',
    path: `${SECRETS}/treasure`,
    contentType: 'application/merge-patch+json',
    body: {},
  },
  {
    name: 'guess by a test',
    method: 'PATCH',
    path: `${SECRETS}/treasure`,
    contentType: 'application/json-patch+json',
    body: '[{"op":"test","path":"/data/value","value":"x"}]',
  },
  {
    name: 'apply',
    method: 'PATCH',
    path: `${SECRETS}/treasure?fieldManager=x&force=true`,
    contentType: 'application/apply-patch+yaml',
    body: { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'treasure' } },
  },
  { name: 'delete', method: 'DELETE', path: `${SECRETS}/treasure` },
  { name: 'delete all', method: 'DELETE', path: SECRETS },
  {
    name: 'with another method by a header',
    path: `${SECRETS}/treasure`,
    headers: { 'x-http-method-override': 'OPTIONS' },
  },
];

const POD = `/api/v1/namespaces/${VAULT}/pods/guard`;

/** What leads to them: pods that have them, and accounts that may read them. */
export const DETOUR_DOORS: Door[] = [
  { name: 'the log of a pod', path: `${POD}/log` },
  { name: 'a command in a pod', path: `${POD}/exec?command=env` },
  { name: 'a command in a pod, posted', method: 'POST', path: `${POD}/exec?command=env` },
  { name: 'attach', path: `${POD}/attach` },
  { name: 'a port', method: 'POST', path: `${POD}/portforward` },
  { name: 'what a pod serves', path: `${POD}/proxy/` },
  { name: 'what a Service serves', path: `/api/v1/namespaces/${VAULT}/services/x/proxy/` },
  { name: 'what a kubelet serves', path: '/api/v1/nodes/n2/proxy/pods' },
  {
    name: 'a debugger',
    method: 'PATCH',
    path: `${POD}/ephemeralcontainers`,
    contentType: 'application/strategic-merge-patch+json',
    body: { spec: { ephemeralContainers: [{ name: 'd', image: 'x' }] } },
  },
  {
    name: 'another pod',
    method: 'POST',
    path: `/api/v1/namespaces/${VAULT}/pods`,
    body: { metadata: { name: 'x' }, spec: { containers: [{ name: 'c', image: 'x' }] } },
  },
  {
    name: 'bind a pod',
    method: 'POST',
    path: `${POD}/binding`,
    body: { metadata: { name: 'guard' }, target: { kind: 'Node', name: 'n1' } },
  },
  {
    name: 'evict a pod',
    method: 'POST',
    path: `${POD}/eviction`,
    body: { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'guard' } },
  },
  {
    name: 'the token of an account',
    method: 'POST',
    path: `/api/v1/namespaces/${VAULT}/serviceaccounts/keeper/token`,
    body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} },
  },
  { name: 'a ConfigMap', path: `/api/v1/namespaces/${VAULT}/configmaps/map` },
  { name: 'the namespace', method: 'DELETE', path: `/api/v1/namespaces/${VAULT}` },
  {
    name: 'the end of the namespace',
    method: 'PUT',
    path: `/api/v1/namespaces/${VAULT}/finalize`,
    body: { metadata: { name: VAULT } },
  },
  {
    name: 'whom a token names',
    method: 'POST',
    path: '/apis/authentication.k8s.io/v1/tokenreviews',
    openFor: ['node'],
    body: { spec: { token: 'x' } },
  },
  {
    name: 'what others may',
    method: 'POST',
    path: '/apis/authorization.k8s.io/v1/subjectaccessreviews',
    openFor: ['node'],
    body: { spec: { user: 'admin', nonResourceAttributes: { path: '/', verb: 'get' } } },
  },
  {
    name: 'what others may in the vault',
    method: 'POST',
    path: `/apis/authorization.k8s.io/v1/namespaces/${VAULT}/localsubjectaccessreviews`,
    openFor: ['node'],
    body: { spec: { user: 'admin', resourceAttributes: { namespace: VAULT, verb: 'get' } } },
  },
  { name: 'the numbers of the server', path: '/metrics' },
  {
    name: 'a webhook of his own',
    method: 'POST',
    path: '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations',
    body: { metadata: { name: 'x' }, webhooks: [] },
  },
  {
    name: 'a server of his own',
    method: 'POST',
    path: '/apis/apiregistration.k8s.io/v1/apiservices',
    body: { metadata: { name: 'v1.x.example.com' }, spec: { group: 'x.example.com', version: 'v1' } },
  },
];

const SECRET_RULE = { apiGroups: [''], resources: ['secrets'], verbs: ['get'] };
const ADMIN_REF = { apiGroup: API_GROUP, kind: 'ClusterRole', name: 'cluster-admin' };
const SELF = [{ apiGroup: API_GROUP, kind: 'Group', name: 'system:authenticated' }];
const NOT_HELD = /is attempting to grant RBAC permissions not currently held|must have cluster-admin privileges/;

function escalation(name: string, method: string, path: string, body: object, contentType?: string): Door {
  return {
    name,
    method,
    path: `${RBAC}/${path}`,
    body,
    insidersAreTold: NOT_HELD,
    ...(contentType && { contentType }),
  };
}

/** More rights than one has, by roles and bindings that one may write. */
export const ESCALATION_DOORS: Door[] = [
  escalation('a ClusterRole for Secrets', 'POST', 'clusterroles', { metadata: { name: 'x' }, rules: [SECRET_RULE] }),
  escalation('a ClusterRole for everything', 'POST', 'clusterroles', {
    metadata: { name: 'x' },
    rules: [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }],
  }),
  escalation('a ClusterRole for a path', 'POST', 'clusterroles', {
    metadata: { name: 'x' },
    rules: [{ nonResourceURLs: ['/metrics'], verbs: ['get'] }],
  }),
  escalation('a Role for another group', 'POST', `namespaces/${MINE}/roles`, {
    metadata: { name: 'x' },
    rules: [{ apiGroups: ['apps'], resources: ['secrets'], verbs: ['get'] }],
  }),
  escalation('a Role for another verb', 'POST', `namespaces/${MINE}/roles`, {
    metadata: { name: 'x' },
    rules: [{ apiGroups: [''], resources: ['serviceaccounts'], verbs: ['impersonate'] }],
  }),
  escalation('a Role for a subresource', 'POST', `namespaces/${MINE}/roles`, {
    metadata: { name: 'x' },
    rules: [{ apiGroups: [''], resources: ['serviceaccounts/token'], verbs: ['create'] }],
  }),
  escalation('the verb escalate', 'POST', `namespaces/${MINE}/roles`, {
    metadata: { name: 'x' },
    rules: [{ apiGroups: [API_GROUP], resources: ['roles'], verbs: ['escalate'] }],
  }),
  escalation('the verb bind', 'POST', 'clusterroles', {
    metadata: { name: 'x' },
    rules: [{ apiGroups: [API_GROUP], resources: ['clusterroles'], verbs: ['bind'] }],
  }),
  escalation('an aggregated role', 'POST', 'clusterroles', {
    metadata: { name: 'x' },
    aggregationRule: { clusterRoleSelectors: [{ matchLabels: { a: 'b' } }] },
  }),
  escalation('a part of an aggregated role', 'POST', 'clusterroles', {
    metadata: { name: 'x', labels: { [`rbac.authorization.k8s.io/aggregate-to-view`]: 'true' } },
    rules: [SECRET_RULE],
  }),
  escalation(
    'more in the own role',
    'PATCH',
    `namespaces/${MINE}/roles/own`,
    [{ op: 'add', path: '/rules/-', value: { apiGroups: ['*'], resources: ['*'], verbs: ['*'] } }],
    'application/json-patch+json',
  ),
  escalation('another own role', 'PUT', 'clusterroles/writers', {
    metadata: { name: 'writers' },
    rules: [SECRET_RULE],
  }),
  escalation(
    'an own role, applied',
    'PATCH',
    'clusterroles/writers?fieldManager=x&force=true',
    { apiVersion: `${API_GROUP}/v1`, kind: 'ClusterRole', metadata: { name: 'writers' }, rules: [SECRET_RULE] },
    'application/apply-patch+yaml',
  ),
  escalation(
    'a role that becomes aggregated',
    'PATCH',
    'clusterroles/writers',
    { aggregationRule: { clusterRoleSelectors: [{}] } },
    'application/merge-patch+json',
  ),
  escalation('a role made by a replacement', 'PUT', `namespaces/${MINE}/roles/new`, {
    metadata: { name: 'new' },
    rules: [{ ...SECRET_RULE, apiGroups: ['*'] }],
  }),
  escalation('to be an administrator', 'POST', 'clusterrolebindings', {
    metadata: { name: 'x' },
    roleRef: ADMIN_REF,
    subjects: SELF,
  }),
  escalation('to be one in a namespace', 'POST', `namespaces/${MINE}/rolebindings`, {
    metadata: { name: 'x' },
    roleRef: ADMIN_REF,
    subjects: SELF,
  }),
  escalation('to have a role everywhere that is his somewhere', 'POST', 'clusterrolebindings', {
    metadata: { name: 'x' },
    roleRef: { ...ADMIN_REF, name: 'own' },
    subjects: SELF,
  }),
  escalation('a binding tried', 'POST', 'clusterrolebindings?dryRun=All', {
    metadata: { name: 'x' },
    roleRef: ADMIN_REF,
    subjects: SELF,
  }),
  escalation(
    'one more subject of the administrators',
    'PATCH',
    'clusterrolebindings/cluster-admin',
    { subjects: SELF },
    'application/merge-patch+json',
  ),
  {
    name: 'a role in the vault',
    method: 'POST',
    path: `${RBAC}/namespaces/${VAULT}/roles`,
    body: { metadata: { name: 'x' }, rules: [SECRET_RULE] },
  },
  {
    name: 'a binding in the vault',
    method: 'POST',
    path: `${RBAC}/namespaces/${VAULT}/rolebindings`,
    body: { metadata: { name: 'x' }, roleRef: ADMIN_REF, subjects: SELF },
  },
];

const WHERE = `${SECRETS}/treasure`;
/** Whoever impersonates has said as whom already. */
const withoutName = ({ kind }: Identity): [number, string] =>
  kind === 'impersonation' ? [403, 'Forbidden'] : [400, 'BadRequest'];

/** To be somebody else, without the right to be. */
export const IMPERSONATION_DOORS: Door[] = [
  { name: 'a user', path: WHERE, headers: { 'impersonate-user': 'admin' } },
  {
    name: 'himself, but as an administrator',
    path: WHERE,
    headers: { 'impersonate-user': 'mallory', 'impersonate-group': 'system:masters' },
  },
  { name: 'an account', path: WHERE, headers: { 'impersonate-user': `system:serviceaccount:${VAULT}:keeper` } },
  {
    name: 'a node',
    path: WHERE,
    headers: { 'impersonate-user': 'system:node:n2', 'impersonate-group': 'system:nodes' },
  },
  { name: 'with a uid', path: WHERE, headers: { 'impersonate-user': 'mallory', 'impersonate-uid': '1' } },
  {
    name: 'with an extra value',
    path: WHERE,
    headers: { 'impersonate-user': 'mallory', 'impersonate-extra-scopes': 'all' },
  },
  { name: 'a group alone', path: WHERE, headers: { 'impersonate-group': 'system:masters' }, expect: withoutName },
  { name: 'a uid alone', path: WHERE, headers: { 'impersonate-uid': '1' }, expect: withoutName },
  { name: 'an extra value alone', path: WHERE, headers: { 'impersonate-extra-a%2fb': 'x' }, expect: withoutName },
  {
    name: 'by the headers of a front proxy',
    path: WHERE,
    openFor: ['front proxy'],
    headers: { 'x-remote-user': 'admin', 'x-remote-group': 'system:masters' },
  },
];
