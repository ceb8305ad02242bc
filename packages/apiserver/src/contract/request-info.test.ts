import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FieldRequirement } from '@asterism/machinery';
import { type FieldSelection, SELECTS_ALL } from './field-selection.ts';
import { type RequestInfo, requestInfo } from './request-info.ts';

function named(value: string): FieldRequirement {
  return { path: 'metadata.name', operator: '=', value };
}

function only(name: string): FieldSelection {
  return { text: `metadata.name=${name}`, requirements: [named(name)], name, isContradictory: false };
}

interface Row {
  request: string;
  expect: Partial<RequestInfo>;
}

const rows: Row[] = [
  { request: 'GET /healthz', expect: { isResource: false, verb: 'get', path: '/healthz' } },
  { request: 'POST /version', expect: { isResource: false, verb: 'post' } },
  { request: 'GET /api/v1', expect: { isResource: false } },
  { request: 'GET /apis/apps/v1/', expect: { isResource: false } },
  {
    request: 'GET /api/v1/pods',
    expect: { isResource: true, group: '', version: 'v1', resource: 'pods', verb: 'list', namespace: '' },
  },
  { request: 'GET /api/v1/pods?watch=1', expect: { verb: 'watch' } },
  { request: 'GET /api/v1/pods?watch=false', expect: { verb: 'list' } },
  { request: 'GET /api/v1/watch/namespaces/a/pods', expect: { verb: 'watch', namespace: 'a', resource: 'pods' } },
  {
    request: 'GET /api/v1/namespaces/a/pods/p/log',
    expect: { verb: 'get', namespace: 'a', resource: 'pods', name: 'p', subresource: 'log', rest: '' },
  },
  { request: 'GET /api/v1/namespaces', expect: { verb: 'list', resource: 'namespaces', namespace: '', name: '' } },
  {
    request: 'GET /api/v1/namespaces/a',
    expect: { verb: 'get', resource: 'namespaces', namespace: 'a', name: 'a', named: true },
  },
  {
    request: 'PUT /api/v1/namespaces/a/finalize',
    expect: { verb: 'update', resource: 'namespaces', namespace: 'a', name: 'a', subresource: 'finalize' },
  },
  { request: 'DELETE /api/v1/namespaces/a/pods', expect: { verb: 'deletecollection' } },
  {
    request: 'DELETE /apis/apps/v1/namespaces/a/deployments/web',
    expect: { verb: 'delete', group: 'apps', version: 'v1', resource: 'deployments', name: 'web' },
  },
  {
    request: 'GET /api/v1/pods?fieldSelector=spec.nodeName%3Dn,metadata.name%3Dx',
    expect: { verb: 'list', name: 'x' },
  },
  { request: 'GET /api/v1/pods?fieldSelector=metadata.name!%3Dx', expect: { verb: 'list', name: '' } },
  {
    request: 'GET /api/v1/pods?fieldSelector=metadata.name!%3Da%5C,metadata.name%3Dx',
    expect: { verb: 'list', name: '' },
  },
  {
    request: 'GET /apis/g.io/v1/clusters/c/proxy/api/v1/namespaces/x%2Fy/?q=1',
    expect: { resource: 'clusters', name: 'c', subresource: 'proxy', rest: '/api/v1/namespaces/x%2Fy/' },
  },
  { request: 'GET /apis/g.io/v1/clusters/c/proxy/', expect: { subresource: 'proxy', rest: '/' } },
  { request: 'GET /apis/g.io/v1/clusters/c/proxy', expect: { subresource: 'proxy', rest: '' } },
  { request: 'GET /apis/rbac/v1/clusterroles/system%3Anode', expect: { name: 'system:node' } },
  {
    request: 'GET /api/v1/watch/namespaces/a/secrets/mine',
    expect: { verb: 'watch', name: 'mine', named: true, selection: only('mine') },
  },
  {
    request: 'GET /api/v1/watch/nodes/n?fieldSelector=metadata.name%3Dn',
    expect: {
      verb: 'watch',
      name: 'n',
      selection: { ...only('n'), text: 'metadata.name=n,metadata.name=n', requirements: [named('n'), named('n')] },
    },
  },
  {
    request: 'GET /api/v1/watch/nodes/n?fieldSelector=metadata.name!%3Dn',
    expect: {
      name: 'n',
      selection: {
        name: 'n',
        text: 'metadata.name!=n,metadata.name=n',
        requirements: [{ ...named('n'), operator: '!=' }, named('n')],
        isContradictory: true,
      },
    },
  },
  { request: 'POST /api/v1/watch/nodes/n', expect: { verb: 'watch', name: 'n', selection: only('n') } },
  { request: 'GET /api/v1/proxy/nodes/n', expect: { verb: 'proxy', resource: 'nodes', name: 'n' } },
  { request: 'GET /api/v1/nodes/n?watch=1', expect: { verb: 'get', name: 'n', selection: SELECTS_ALL } },
  {
    request: 'GET /api/v1/nodes?fieldSelector=metadata.name%3Dn',
    expect: { name: 'n', named: false, selection: only('n') },
  },
  {
    request: 'GET /api/v1/nodes?fieldSelector=metadata.name%3Da,metadata.name%3Db',
    expect: { verb: 'list', name: 'a' },
  },
  { request: 'GET /api/v1/nodes?fieldSelector=metadata.name%3D..', expect: { verb: 'list', name: '' } },
  { request: 'GET /api/v1/nodes?fieldSelector=metadata.name%3Da/b', expect: { verb: 'list', name: '' } },
  { request: 'GET /api/v1/nodes?fieldSelector=((', expect: { name: '', selection: { ...SELECTS_ALL, text: '((' } } },
  {
    request: 'DELETE /api/v1/nodes?fieldSelector=metadata.name%3Dn',
    expect: { verb: 'deletecollection', name: '', selection: only('n') },
  },
  { request: 'GET /%6detrics', expect: { isResource: false, path: '/metrics' } },
  { request: 'GET /openapi%2Fv2', expect: { isResource: false, path: '/openapi/v2' } },
  { request: 'GET /a%252Fb', expect: { path: '/a%2Fb' } },
  {
    request: 'GET /api%2Fv1/namespaces/a/%73ecrets%2fmine',
    expect: { isResource: true, namespace: 'a', resource: 'secrets', name: 'mine', subresource: '' },
  },
  { request: 'GET /api/v1/namespaces/a/pods/p%2Flog', expect: { name: 'p', subresource: 'log', rest: '' } },
  {
    request: 'GET /apis/g.io/v1/clusters/c%2Fproxy/x%2Fy',
    expect: { name: 'c', subresource: 'proxy', rest: '/x%2Fy' },
  },
  { request: 'OPTIONS /api/v1/pods', expect: { verb: '', resource: 'pods' } },
  { request: 'HEAD /api/v1/namespaces/a', expect: { verb: 'get', name: 'a' } },
  { request: 'HEAD /api/v1/pods', expect: { verb: 'list', resource: 'pods' } },
];

for (const { request, expect } of rows) {
  test(`request info of ${request}`, () => {
    const [method, target] = request.split(' ') as [string, string];
    const [path, search] = target.split('?') as [string, string | undefined];
    const info = requestInfo(method, path, new URLSearchParams(search));
    assert.deepEqual({ ...info, ...expect }, info);
  });
}

test('a path that is not percent-encoded properly is a bad request', () => {
  assert.throws(() => requestInfo('GET', '/api/v1/pods/%zz', new URLSearchParams()), { code: 400 });
});
