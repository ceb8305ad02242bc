import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type NamedOperation, operationId, operationTag } from './operation-id.ts';

const rows: [group: string, version: string, operation: NamedOperation, id: string, tag: string][] = [
  ['', 'v1', { action: 'list', kind: 'Pod', namespaced: true }, 'listCoreV1NamespacedPod', 'core_v1'],
  [
    '',
    'v1',
    { action: 'list', kind: 'Pod', namespaced: true, everywhere: true },
    'listCoreV1PodForAllNamespaces',
    'core_v1',
  ],
  ['', 'v1', { action: 'get', kind: 'Node', namespaced: false }, 'readCoreV1Node', 'core_v1'],
  [
    'apps',
    'v1',
    { action: 'put', kind: 'Deployment', namespaced: true, subresource: 'scale' },
    'replaceAppsV1NamespacedDeploymentScale',
    'apps_v1',
  ],
  [
    'rbac.authorization.k8s.io',
    'v1',
    { action: 'deletecollection', kind: 'Role', namespaced: true },
    'deleteRbacAuthorizationV1CollectionNamespacedRole',
    'rbacAuthorization_v1',
  ],
  [
    '',
    'v1',
    { action: 'connect', kind: 'Pod', namespaced: true, method: 'post', subresource: 'exec' },
    'connectCoreV1PostNamespacedPodExec',
    'core_v1',
  ],
  [
    'stable.example.com',
    'v1beta1',
    { action: 'post', kind: 'CronTab', namespaced: true },
    'createStableExampleComV1beta1NamespacedCronTab',
    'stableExampleCom_v1beta1',
  ],
];

for (const [group, version, operation, id, tag] of rows) {
  test(`an operation is called ${id}`, () => {
    assert.equal(operationId({ group, version }, operation), id);
    assert.equal(operationTag({ group, version }), tag);
  });
}
