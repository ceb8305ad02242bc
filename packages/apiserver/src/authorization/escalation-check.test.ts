import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { CLUSTER_ROLE_BINDINGS, CLUSTER_ROLES, isStatusError, type KubeObject } from '@asterism/machinery';
import { startTestServer, type TestServer } from '../testing/index.ts';
import { changesOnlyReferences } from './changes-only-references.ts';

const RBAC = 'rbac.authorization.k8s.io';
const OWNER = { apiVersion: 'v1', kind: 'ConfigMap', name: 'o', uid: 'u' };
const NEEDS_ADMIN = /must have cluster-admin privileges to use the aggregationRule/;

describe('a user who may write roles and bindings, and holds no other right', () => {
  let server: TestServer<'eve'>;

  before(async () => {
    const verbs = ['get', 'create', 'update', 'patch'];
    const rules = [{ apiGroups: [RBAC], resources: ['clusterroles', 'clusterrolebindings'], verbs }];
    server = await startTestServer({ users: { eve: { rules } } });
    const select = { clusterRoleSelectors: [{ matchLabels: { to: 'sum' } }] };
    await server.inside
      .resource(CLUSTER_ROLES)
      .create({ metadata: { name: 'sum' }, aggregationRule: select, rules: [] });
  });
  after(() => server.stop());

  type Row = [what: string, kind: 'roles' | 'bindings', name: string, patch: object, refused: RegExp | undefined];
  const held = /attempting to grant RBAC permissions not currently held/;
  const rows: Row[] = [
    ['labels', 'roles', 'cluster-admin', { metadata: { labels: { to: 'sum' } } }, held],
    ['annotations', 'roles', 'cluster-admin', { metadata: { annotations: { a: 'b' } } }, held],
    ['rules', 'roles', 'view', { rules: [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }] }, held],
    [
      'finalizers and labels',
      'roles',
      'cluster-admin',
      { metadata: { finalizers: ['a.b/c'], labels: { a: 'b' } } },
      held,
    ],
    ['finalizers', 'roles', 'cluster-admin', { metadata: { finalizers: ['a.b/c'] } }, undefined],
    ['owners', 'roles', 'cluster-admin', { metadata: { ownerReferences: [OWNER] } }, undefined],
    ['nothing', 'roles', 'cluster-admin', {}, undefined],
    ['labels of an aggregated role', 'roles', 'sum', { metadata: { labels: { a: 'b' } } }, NEEDS_ADMIN],
    ['no aggregation any more', 'roles', 'sum', { aggregationRule: null }, NEEDS_ADMIN],
    ['an empty aggregation', 'roles', 'sum', { aggregationRule: { clusterRoleSelectors: [] } }, NEEDS_ADMIN],
    ['subjects', 'bindings', 'cluster-admin', { subjects: [{ apiGroup: RBAC, kind: 'User', name: 'eve' }] }, held],
    ['labels', 'bindings', 'cluster-admin', { metadata: { labels: { a: 'b' } } }, held],
    ['finalizers', 'bindings', 'cluster-admin', { metadata: { finalizers: ['a.b/c'] } }, undefined],
    ['owners', 'bindings', 'cluster-admin', { metadata: { ownerReferences: [OWNER] } }, undefined],
    ['nothing', 'bindings', 'cluster-admin', {}, undefined],
  ];
  for (const [what, kind, name, patch, refused] of rows) {
    test(`${refused === undefined ? 'may' : 'may not'} change ${what} of ${kind} ${name}`, async () => {
      const type = kind === 'roles' ? CLUSTER_ROLES : CLUSTER_ROLE_BINDINGS;
      const write = server.users.eve.client.resource(type).patch({ name }, { type: 'merge', body: patch });
      if (refused === undefined) await write;
      else await assert.rejects(write, { code: 403, message: refused });
    });
  }

  test('an aggregationRule without selectors is invalid, not forbidden', async () => {
    const role = { metadata: { name: 'none' }, aggregationRule: {}, rules: [] } as KubeObject;
    await assert.rejects(server.users.eve.client.resource(CLUSTER_ROLES).create(role as never), (error) =>
      isStatusError(error, 'Invalid'),
    );
  });
});

test('only finalizers, owner references and fields of the server may change without rights', () => {
  const old: KubeObject = { kind: 'ClusterRole', metadata: { name: 'a', uid: 'u', resourceVersion: '1' }, rules: [] };
  const with_ = (metadata: object, rest: object = {}): KubeObject => ({
    ...old,
    ...rest,
    metadata: { ...old.metadata, ...metadata },
  });
  const rows: [change: KubeObject, only: boolean][] = [
    [with_({ finalizers: ['x/y'], ownerReferences: [OWNER], managedFields: [], resourceVersion: '2' }), true],
    [with_({ labels: {} }), true],
    [with_({}, { rules: undefined }), true],
    [with_({}, { rules: null }), true],
    [with_({ labels: { a: '' } }), false],
    [with_({ annotations: { a: '' } }), false],
    [with_({ uid: 'v' }), false],
    [with_({}, { aggregationRule: {} }), false],
    [with_({}, { rules: [{ verbs: [] }] }), false],
  ];
  for (const [change, only] of rows) assert.equal(changesOnlyReferences(change, old), only, JSON.stringify(change));
});
