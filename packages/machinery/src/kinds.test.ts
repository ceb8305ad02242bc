import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  type GroupVersion,
  type ResourcePathOptions,
  formatApiVersion,
  formatGroupResource,
  objectKey,
  parseApiVersion,
  resourcePath,
  splitKey,
} from './kinds.ts';

describe('apiVersion', () => {
  const rows: [text: string, groupVersion: GroupVersion][] = [
    ['v1', { group: '', version: 'v1' }],
    ['apps/v1', { group: 'apps', version: 'v1' }],
    ['example.com/v1alpha1', { group: 'example.com', version: 'v1alpha1' }],
  ];
  for (const [text, groupVersion] of rows) {
    test(text, () => {
      assert.deepEqual(parseApiVersion(text), groupVersion);
      assert.equal(formatApiVersion(groupVersion), text);
    });
  }
});

test('a resource with its group', () => {
  assert.equal(formatGroupResource({ group: '', resource: 'pods' }), 'pods');
  assert.equal(formatGroupResource({ group: 'apps', resource: 'deployments' }), 'deployments.apps');
});

describe('resourcePath', () => {
  const pods = { group: '', version: 'v1', resource: 'pods' };
  const deployments = { group: 'apps', version: 'v1', resource: 'deployments' };
  const rows: [path: string, type: typeof pods, options: ResourcePathOptions][] = [
    ['/api/v1/pods', pods, {}],
    ['/apis/apps/v1/deployments', deployments, {}],
    ['/api/v1/namespaces/demo/pods/web', pods, { namespace: 'demo', name: 'web' }],
    [
      '/apis/apps/v1/namespaces/demo/deployments/web/status',
      deployments,
      { namespace: 'demo', name: 'web', subresource: 'status' },
    ],
    ['/api/v1/pods/a%2F..%2Fb', pods, { name: 'a/../b' }],
    ['/api/v1/namespaces/a%3Fb/pods', pods, { namespace: 'a?b' }],
  ];
  for (const [path, type, options] of rows) test(path, () => assert.equal(resourcePath(type, options), path));
});

test('the key of an object and its parts', () => {
  assert.equal(objectKey({ metadata: { namespace: 'demo', name: 'web' } }), 'demo/web');
  assert.equal(objectKey({ metadata: { name: 'node-1' } }), 'node-1');
  assert.deepEqual(splitKey('demo/web'), { namespace: 'demo', name: 'web' });
  assert.deepEqual(splitKey('node-1'), { namespace: undefined, name: 'node-1' });
});
