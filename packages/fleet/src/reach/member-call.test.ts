import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { readMemberCall } from './member-call.ts';
import { modeFault, stricterMode } from './reach-mode.ts';

const POD = '/api/v1/namespaces/a/pods/b';

/** Method, path, what it is read as, and whether it is a reading. */
const VM = '/apis/subresources.kubevirt.io/v1/namespaces/a/virtualmachineinstances/vm';
const CALLS: [method: string, path: string, expected: string, reads: boolean, upgrade?: string][] = [
  ['GET', '/', 'get /', true],
  ['GET', '/version', 'get /version', true],
  ['GET', '/api', 'get /api', true],
  ['GET', '/apis/apps/v1', 'get /apis/apps/v1', true],
  ['GET', '/openapi/v3/apis/apps/v1?hash=x', 'get /openapi/v3/apis/apps/v1', true],
  ['GET', '/readyz/etcd', 'get /readyz/etcd', true],
  ['GET', '/metrics', 'get /metrics', false],
  ['GET', '/logs/', 'get /logs/', false],
  ['POST', '/version', 'post /version', false],
  ['GET', '/api/v1/pods?limit=5', 'list /v1 pods', true],
  ['GET', '/api/v1/pods?watch=1', 'watch /v1 pods', true],
  ['GET', '/api/v1/pods?watch=0', 'list /v1 pods', true],
  ['GET', '/api/v1/watch/namespaces/a/pods', 'watch /v1 a pods', true],
  ['GET', '/apis/apps/v1/namespaces/a/deployments/d/scale', 'get apps/v1 a deployments d scale', true],
  ['GET', '/api/v1/namespaces/a', 'get /v1 a namespaces a', true],
  ['PUT', '/api/v1/namespaces/a/finalize', 'update /v1 a namespaces a finalize', false],
  ['GET', `${POD}/log?follow=true`, 'get /v1 a pods b log', true],
  ['GET', `${POD}/log?follow=true`, 'get /v1 a pods b log', true, 'websocket'],
  ['GET', '/api/v1/pods?watch=1', 'watch /v1 pods', true, 'WebSocket'],
  ['GET', '/api/v1/pods?watch=1', 'watch /v1 pods', false, 'SPDY/3.1'],
  ['GET', '/api/v1/pods', 'list /v1 pods', false, 'websocket'],
  ['GET', `${POD}?watch=1`, 'get /v1 a pods b', true],
  ['GET', `${POD}?watch=1`, 'get /v1 a pods b', false, 'websocket'],
  [
    'GET',
    `${VM}/console?watch=1`,
    'get subresources.kubevirt.io/v1 a virtualmachineinstances vm console',
    false,
    'websocket',
  ],
  ['GET', `${VM}/log?follow=1`, 'get subresources.kubevirt.io/v1 a virtualmachineinstances vm log', false, 'websocket'],
  ['GET', '/apis/x.example/v1/watch/namespaces/a/vms/vm/vnc', 'watch x.example/v1 a vms vm vnc', false, 'websocket'],
  ['GET', `${POD}/exec?command=sh`, 'get /v1 a pods b exec', false],
  ['POST', `${POD}/attach`, 'create /v1 a pods b attach', false],
  ['GET', `${POD}/portforward`, 'get /v1 a pods b portforward', false, 'websocket'],
  ['GET', `${POD}/proxy/x//y`, 'get /v1 a pods b proxy', false],
  ['GET', '/api/v1/nodes/n/proxy/run', 'get /v1 nodes n proxy', false],
  ['GET', '/api/v1/proxy/nodes/n', 'get /v1 proxy nodes n', false],
  ['GET', '/api/v1/namespaces/a/pods/b%2Fexec', 'get /v1 a pods b/exec', false],
  ['POST', '/api/v1/namespaces/a/pods', 'create /v1 a pods', false],
  ['DELETE', '/api/v1/namespaces/a/pods', 'deletecollection /v1 a pods', false],
  ['DELETE', POD, 'delete /v1 a pods b', false],
  ['PATCH', `${POD}/status`, 'patch /v1 a pods b status', false],
  ['POST', '/api/v1/namespaces/a/serviceaccounts/s/token', 'create /v1 a serviceaccounts s token', false],
  ['POST', '/apis/authentication.k8s.io/v1/tokenreviews', 'create authentication.k8s.io/v1 tokenreviews', false],
  [
    'POST',
    '/apis/authentication.k8s.io/v1/selfsubjectreviews',
    'create authentication.k8s.io/v1 selfsubjectreviews',
    true,
  ],
  [
    'POST',
    '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
    'create authorization.k8s.io/v1 selfsubjectaccessreviews',
    true,
  ],
  [
    'POST',
    '/apis/authorization.k8s.io/v1/subjectaccessreviews',
    'create authorization.k8s.io/v1 subjectaccessreviews',
    false,
  ],
  ['POST', '/apis/x.example/v1/selfsubjectreviews', 'create x.example/v1 selfsubjectreviews', false],
  ['OPTIONS', '/api/v1/pods', 'options /v1 pods', false],
  ['HEAD', '/api/v1/pods', 'list /v1 pods', true],
];

describe('what a call asks of a member', () => {
  for (const [method, path, expected, reads, upgrade] of CALLS) {
    test(`${method} ${path}${upgrade ? ` over ${upgrade}` : ''}`, () => {
      const call = readMemberCall(method, path);
      assert.ok(!('fault' in call), JSON.stringify(call));
      const { verb, target } = call;
      const { group, version, namespace, resource, name, subresource } = target ?? {};
      const read = target ? [verb, `${group}/${version}`, namespace, resource, name, subresource] : [verb, call.path];
      assert.equal(read.filter((word) => word !== '').join(' '), expected);
      assert.equal(modeFault('readonly', call, { upgrade }) === undefined, reads);
      assert.equal(modeFault('impersonate', call, { upgrade }), undefined);
      assert.match(modeFault('off', call, { upgrade }) ?? '', /"off"/);
    });
  }
});

describe('what is no path of a member', () => {
  for (const path of [
    'http://10.0.0.1/api',
    '//10.0.0.1/api',
    '10.0.0.1:443',
    '*',
    '',
    '/api/../etc',
    '/api/%2e%2e/etc',
    '/api/.%2E/etc',
    '/api/v1/a%2f..%2fb',
    '/api/v1/namespaces/a/services/b/proxy/../../secrets',
    '/api/v1//pods',
    '/api/%zz',
  ]) {
    test(JSON.stringify(path), () => assert.ok('fault' in readMemberCall('GET', path)));
  }
});

describe('characters that no path holds, in it or in its query', () => {
  for (const character of ['\0', '\t', '\r', '\n', '\u001f', ' ', '\u007f', '#', '\\']) {
    for (const path of [`/api/v1/a${character}b`, `/api/v1/pods?limit=1${character}`]) {
      test(JSON.stringify(path), () =>
        assert.deepEqual(readMemberCall('GET', path), { fault: 'the path has characters that no path holds' }),
      );
    }
  }

  test('their neighbours are held', () => {
    for (const character of ['!', '"', '$', '[', ']', '~', '\u0080', '😀']) {
      assert.ok(!('fault' in readMemberCall('GET', `/api/v1/pods/${character}`)), character);
    }
  });
});

test('of two modes the stricter counts, and one that is not known counts as off', () => {
  assert.equal(stricterMode(undefined, undefined), 'impersonate');
  assert.equal(stricterMode('impersonate', 'readonly'), 'readonly');
  assert.equal(stricterMode('off', 'readonly'), 'off');
  assert.equal(stricterMode('later' as never, undefined), 'off');
});
